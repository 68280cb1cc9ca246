"""JavaScript is shortened without a change of what it does."""

from __future__ import annotations

import pytest

from aitp_desk.web.javascript.minifier import minify


@pytest.mark.parametrize(
    ("code", "shorter"),
    [
        ("// A comment.\nf(one);\n/** Another. */\n", "f(one);"),
        ("function add(one, other) {\n  return one + other;\n}\n", "function ee(e,t){return e+t}"),
        ("const at = 1;\nlet on = at - -at;\n", "let ee=1,et=ee- -ee;"),
        ("export function open(door) {\n  door.open();\n}\n", "export function open(e){e.open()}"),
        (
            "export async function go({ by, key: x = 1, ...all }) {\n  return { by, x: all };\n}\n",
            "export async function go({by:e,key:t=1,...n}){return{by:e,x:n}}",
        ),
        (
            "class B extends A {\n  get b() {\n  }\n  async d(e) {\n    e();\n  }\n}\n",
            "class ee extends A{get b(){}async d(e){e()}}",
        ),
        (
            "for (const [name, { value = 2 }] of all) {\n  if (name) value.name?.name(name);\n}\n",
            "for(let[ee,{value:et=2}]of all){if(ee)et.name?.name(ee)}",
        ),
        (
            'const said = (name) => `Hello {name} ${name ? `and ${name}` : "}"}!`;\n',
            'let ee=e=>`Hello {name} ${e?`and ${e}`:"}"}!`;',
        ),
        (
            'const isWord = (one) => /^[/"\'`]+\\/"$/g.test(one) || one / 2 / one > 1;\n',
            'let ee=e=>/^[/"\'`]+\\/"$/g.test(e)||e/2/e>1;',
        ),
        (
            'const made = (el, kind) => el("p", { class: kind, kind, el: { kind } }, kind);\n',
            'let ee=(e,t)=>e("p",{class:t,kind:t,el:{kind:t}},t);',
        ),
        ("function* all(one) {\n  yield* one;\n}\n", "function*ee(e){yield*e}"),
        ("try {\n  a();\n} catch (why) {\n  b(why);\n}\n", "try{a()}catch(ee){b(ee)}"),
        (
            "const { a: one } = new URL(import.meta.url);\nfunction go() {\n  return one;\n}\n",
            "let{a:ee}=new URL(import.meta.url);\nfunction et(){return ee}",
        ),
        ("const at = document.x;\nconst document2 = at;\n", "let ee=document.x,et=ee;"),
        (
            "for (let n = 1; n; n -= 1) {\n  const a = n;\n  let b;\n  b(a);\n  const c = b;\n}\n",
            "for(let ee=1;ee;ee-=1){let en=ee,et;et(en);let er=et}",
        ),
        ("export const a = 1;\nconst b = a;\n", "export let a=1;\nlet ee=a;"),
        (
            "const a = { true: true, b: x.false };\nfunction f() {\n  return false;\n}\n",
            "let ee={true:!0,b:x.false};\nfunction et(){return!1}",
        ),
        (
            "f(async (one) => g((one), () => undefined, x.undefined, ({ a }) => a));\n",
            "f(async e=>g((e),()=>void 0,x.undefined,({a:e})=>e));",
        ),
        ("f(1_000, 30_000, 1_500, 100, 0.5, 2 ** 10, 10);\n", "f(1e3,30e3,1500,100,.5,2**10,10);"),
    ],
)
def test_layout_and_names_become_shorter(code: str, shorter: str) -> None:
    assert minify(code) == shorter


def test_functions_use_the_same_names_again() -> None:
    code = "function one(a, text) {\n  text(a);\n}\nfunction two(text) {\n  one(text, one);\n}\n"
    assert minify(code) == "function ee(e,t){t(e)}\nfunction et(e){ee(e,ee)}"


def test_a_function_within_another_hides_nothing_that_it_uses() -> None:
    code = (
        "function one(all, text) {\n"
        "  return all.map((part) => [part, text]).map((text) => text + all);\n}\n"
    )
    assert minify(code) == ("function ee(e,t){return e.map(e=>[e,t]).map(t=>t+e)}")


def test_no_shorter_name_hides_one_of_the_browser() -> None:
    code = "function one(text) {\n  return e(t, text, ee);\n}\n"
    assert minify(code) == "function et(n){return e(t,n,ee)}"


def test_a_parameter_with_the_name_of_a_global_hides_it_only_where_it_did() -> None:
    code = "function go(location) {\n  location();\n}\ngo(location);\n"
    assert minify(code) == "function ee(e){e()}\nee(location);"


def test_many_names_are_all_different() -> None:
    names = [f"name{number}" for number in range(100)]
    told = minify(f"function all({', '.join(names)}) {{}}\n")
    given = told.partition("(")[2].partition(")")[0].split(",")
    assert len(set(given)) == 100
    assert max(map(len, given)) == 2


def test_what_only_one_class_names_becomes_shorter() -> None:
    code = (
        "class A {\n  #held = 1;\n  constructor() {\n    this.count = this.#held;\n  }\n"
        "  grow() {\n    this.count += 1;\n    this.shown = this.kept = this.grow();\n  }\n}\n"
        'class B extends A {\n  go() {\n    this.kept = f("shown");\n  }\n}\n'
    )
    assert minify(code) == (
        "class ee{#e=1;constructor(){this.e=this.#e}"
        "t(){this.e+=1;this.shown=this.kept=this.t()}}\n"
        'class et extends ee{go(){this.kept=f("shown")}}'
    )


@pytest.mark.parametrize(
    "use",
    ["one.count;", "const { count } = one;", "f({ count: 1 });", 'f("count");', "f(one?.count);"],
)
def test_a_member_that_others_name_keeps_its_name(use: str) -> None:
    code = "class A {\n  grow() {\n    this.count = this.count + 1;\n  }\n}\n"
    assert minify(code) == "class ee{grow(){this.e=this.e+1}}"
    assert "this.count=this.count+1" in minify(f"{code}{use}\n")
    assert "this.count=this.count+1" in minify(code, use)


def test_a_class_of_the_browser_is_extended_by_members_with_their_names() -> None:
    code = "class A extends Node {\n  grow() {\n    this.count = this.grow();\n  }\n}\n"
    assert minify(code) == "class ee extends Node{grow(){this.count=this.grow()}}"


def test_members_that_are_known_to_be_its_own_become_shorter_everywhere() -> None:
    code = "class A {\n  go() {\n  }\n}\nconst f = ({ go }) => go(b.go, { go: b.other });\n"
    assert minify(code, members=["go"]) == "class ee{e(){}}\nlet et=({e:e})=>e(b.e,{e:b.other});"
