"""JavaScript is shortened without a change of what it does."""

from __future__ import annotations

import pytest

from aitp_desk.web.minifier import minify


@pytest.mark.parametrize(
    ("code", "shorter"),
    [
        ("// A comment.\nf(one);\n/** Another. */\n", "f(one);"),
        ("function add(one, other) {\n  return one + other;\n}\n", "function aa(a,b){return a+b}"),
        ("const at = 1;\nlet on = at - -at;\n", "let aa=1;\nlet ab=aa- -aa;"),
        ("export function open(door) {\n  door.open();\n}\n", "export function open(a){a.open()}"),
        (
            "export async function go({ by, key: x = 1, ...all }) {\n  return { by, x: all };\n}\n",
            "export async function go({by:a,key:b=1,...c}){return{by:a,x:c}}",
        ),
        (
            "class B extends A {\n  get b() {\n  }\n  async d(e) {\n    e();\n  }\n}\n",
            "class aa extends A{get b(){}async d(a){a()}}",
        ),
        (
            "for (const [name, { value = 2 }] of all) {\n  if (name) value.name?.name(name);\n}\n",
            "for(let[a,{value:b=2}]of all){if(a)b.name?.name(a)}",
        ),
        (
            'const said = (name) => `Hello {name} ${name ? `and ${name}` : "}"}!`;\n',
            'let aa=(a)=>`Hello {name} ${a?`and ${a}`:"}"}!`;',
        ),
        (
            'const isWord = (one) => /^[/"\'`]+\\/"$/g.test(one) || one / 2 / one > 1;\n',
            'let aa=(a)=>/^[/"\'`]+\\/"$/g.test(a)||a/2/a>1;',
        ),
        (
            'const made = (el, kind) => el("p", { class: kind, kind, el: { kind } }, kind);\n',
            'let aa=(a,b)=>a("p",{class:b,kind:b,el:{kind:b}},b);',
        ),
        ("function* all(one) {\n  yield* one;\n}\n", "function*aa(a){yield*a}"),
        ("try {\n  a();\n} catch (why) {\n  b(why);\n}\n", "try{a()}catch(c){b(c)}"),
        (
            "const { a: one } = new URL(import.meta.url);\nfunction go() {\n  return one;\n}\n",
            "let{a:aa}=new URL(import.meta.url);\nfunction ab(){return aa}",
        ),
        ("const at = document.x;\nconst document2 = at;\n", "let aa=document.x;\nlet ab=aa;"),
    ],
)
def test_layout_and_names_become_shorter(code: str, shorter: str) -> None:
    assert minify(code) == shorter


def test_a_name_is_the_same_in_a_function_and_another_in_the_next() -> None:
    code = "function one(a, text) {\n  text(a);\n}\nfunction two(text) {\n  one(text, one);\n}\n"
    assert minify(code) == "function aa(a,b){b(a)}\nfunction ab(a){aa(a,aa)}"


def test_no_shorter_name_hides_one_of_the_browser() -> None:
    code = "function one(text) {\n  return a(b, text, aa);\n}\n"
    assert minify(code) == "function ab(c){return a(b,c,aa)}"


def test_names_that_a_global_has_stay() -> None:
    assert minify("function go(location) {\n  location();\n}\n") == (
        "function aa(location){location()}"
    )


def test_many_names_are_all_different() -> None:
    names = [f"name{number}" for number in range(100)]
    told = minify(f"function all({', '.join(names)}) {{}}\n")
    given = told.partition("(")[2].partition(")")[0].split(",")
    assert len(set(given)) == 100
    assert max(map(len, given)) == 2
