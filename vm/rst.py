# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks a document of the kernel's as far as docutils goes, without Sphinx: its markup, that the documents
it names are there, and that the documentation it takes from the code is there and is marked up well, too."""

import os
import re
import subprocess
import sys

import guests

# Roles and directives that Sphinx adds. Of these the text is looked at, and no more.
ROLES = ["ref", "manpage", "term", "abbr", "command", "file", "c:func", "c:type", "c:macro", "c:struct",
         "c:member", "c:enum", "c:expr", "c:data", "c:var", "c:enumerator", "c:texpr", "c:union",
         "c:identifier"]
BLOCKS = ["c:function", "c:struct", "c:macro", "c:type", "c:enum", "c:enumerator", "c:union", "c:member",
          "c:var", "c:namespace", "c:namespace-push", "c:namespace-pop", "only", "index", "seealso",
          "versionadded", "tabularcolumns", "kernel-figure", "highlight"]
LITERALS = ["code-block", "kernel-render"]


def check(tree, path):
    """[(line, text)] of what is wrong with a document of a source."""
    # In a process of its own, where docutils is found.
    result = subprocess.run([sys.executable, __file__, tree, path], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                            env={**os.environ, "PYTHONPATH": guests.DEBIAN_PYTHON,
                                 "PYTHONDONTWRITEBYTECODE": "1"})
    if result.returncode != 0:
        raise guests.Failed(f"{path} cannot be checked:\n{result.stdout[-2000:]}")
    return [(int(line), text) for line, text in re.findall(r"(?m)^(\d+):(.*)$", result.stdout)]


def check_document(tree, path):
    # pylint: disable=import-outside-toplevel,import-error
    import docutils.core
    import docutils.nodes
    import docutils.parsers.rst as rst
    import docutils.statemachine
    from docutils.parsers.rst import directives, roles
    found = []

    class Block(rst.Directive):
        """Any content, which is looked at."""
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = any_options()

        def run(self):
            node = docutils.nodes.container()
            self.state.nested_parse(self.content, self.content_offset, node)
            return [node]

    class Literal(Block):
        """Any content, which is not."""
        def run(self):
            return []

    class Toctree(Block):
        """A list of documents."""
        def run(self):
            for line in self.content:
                name = re.sub(r".*<(.+)>$", r"\1", line.strip())
                if name and "*" not in name and name not in ("self",):
                    document_exists(name, self.lineno)
            return []

    class KernelDoc(Block):
        """Documentation that stands in the code."""
        def run(self):
            source = self.arguments[0].split()[0]
            if not os.path.exists(os.path.join(tree, source)):
                found.append((self.lineno, f"there is no {source}"))
                return []
            text = ""
            for words in self.selections():
                part = subprocess.run([os.path.join(tree, "scripts/kernel-doc"), "-rst", *words, source],
                                      cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                      text=True, check=False).stdout
                if not re.search(r"(?m)^\.\. c:|^\*\*", part):
                    found.append((self.lineno, f"{source} documents nothing for {' '.join(words)}"))
                text += part
            node = docutils.nodes.container()
            lines = docutils.statemachine.StringList(text.splitlines(), source)
            self.state.nested_parse(lines, 0, node, match_titles=1)
            return [node]

        def selections(self):
            """kernel-doc's words for each thing that the directive asks for."""
            if "doc" in self.options:
                return [["-s", self.options["doc"]]]
            names = (self.options.get("identifiers") or self.options.get("functions") or "").split()
            if names:
                return [["-s", name] for name in names]
            return [[f"-{kind}"] for kind in ("export", "internal") if kind in self.options] or [[]]

    def document_exists(name, line):
        start = tree + "/Documentation" if name.startswith("/") else os.path.dirname(f"{tree}/{path}")
        if not os.path.exists(f"{start}/{name.lstrip('/').removesuffix('.rst')}.rst"):
            found.append((line, f"there is no document {name}"))

    def role(_name, raw, text, *_rest):
        return [docutils.nodes.literal(raw, text)], []

    def document(_name, raw, text, line, *_rest):
        document_exists(re.sub(r".*<(.+)>$", r"\1", text), line)
        return [docutils.nodes.literal(raw, text)], []

    for name in ROLES:
        roles.register_local_role(name, role)
    roles.register_local_role("doc", document)
    for names, directive in ((BLOCKS, Block), (LITERALS, Literal), (["toctree"], Toctree),
                             (["kernel-doc"], KernelDoc)):
        for name in names:
            directives.register_directive(name, directive)
    with open(f"{tree}/{path}", encoding="utf-8") as file:
        text = file.read()
    parsed = docutils.core.publish_doctree(text, source_path=path, settings_overrides={
        "report_level": 2, "halt_level": 5, "warning_stream": False, "syntax_highlight": "none",
        "_disable_config": True})
    messages = [*parsed.findall(docutils.nodes.system_message), *parsed.parse_messages,
                *parsed.transform_messages]
    found += [(message.get("line", 0), message.astext().split("\n")[0].split(": ", maxsplit=1)[-1])
              for message in messages if message["level"] > 1]
    return sorted(set(found))


def any_options():
    """Options of any name, whose value is taken as it stands."""
    class Anything(dict):
        """A directive's option_spec that has them all."""

        def __getitem__(self, name):
            return lambda text: text or ""

        def __contains__(self, name):
            return True

        def __bool__(self):
            return True
    return Anything()


if __name__ == "__main__":
    for number, what in check_document(sys.argv[1], sys.argv[2]):
        print(f"{number}:{what}")
