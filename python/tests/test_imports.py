"""The package has no circular imports, not even within functions."""

import ast
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "warpalign"


def modules_of(folder):
    """The source files of a package, by module name."""
    modules = {}
    for file in sorted(folder.rglob("*.py")):
        parts = [folder.name, *file.relative_to(folder).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        modules[".".join(parts)] = file
    return modules


def imports_of(name, file, known):
    """The modules of `known` that the file imports, anywhere in it."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[:len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                is_extension = alias.name == "_core"
                if not is_extension:
                    found.add(inner if inner in known else base)
    return found & set(known) - {name}


def cycle_in(graph):
    """A list of modules that form an import cycle, or None."""
    done = set()

    def visit(node, path):
        if node in path:
            return path[path.index(node):]
        if node in done:
            return None
        for following in sorted(graph[node]):
            cycle = visit(following, [*path, node])
            if cycle:
                return cycle
        done.add(node)
        return None

    return next(filter(None, (visit(node, []) for node in graph)), None)


def graph_of(folder):
    modules = modules_of(folder)
    return {name: imports_of(name, file, modules) for name, file in modules.items()}


def test_no_module_imports_itself_through_others():
    graph = graph_of(PACKAGE)
    assert "warpalign._devices" in graph["warpalign._foreign"]
    assert "warpalign._cuda_arrays" in graph["warpalign._foreign"]  # within a function
    cycle = cycle_in(graph)
    assert cycle is None, " -> ".join([*cycle, cycle[0]])


@pytest.mark.parametrize("late", ["from .first import x", "def f():\n    from . import first",
                                  "import house.first"])
def test_a_cycle_is_found(tmp_path, late):
    house = tmp_path / "house"
    house.mkdir()
    (house / "__init__.py").write_text("from .first import x\n")
    (house / "first.py").write_text("from .second import y\n")
    (house / "second.py").write_text(late)
    assert sorted(cycle_in(graph_of(house))) == ["house.first", "house.second"]
