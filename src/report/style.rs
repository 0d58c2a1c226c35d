//! The style of the page: for windows from 400 pixels on, light and dark, and for paper.
//!
//! Invariant: in a fragment every rule holds only inside of it.

/// Rules for all media; `body` stands for the whole.
const BASE: &str = "
body { --text: #222; --page: #fff; --soft: #f4f5f7; --line: #d5d8dd; --link: #1d5fae; --mark: #fff0b8;
       --node: #eef3fa; --edge: #777; --hit: #fbe3e1; --good: #2a7f4f; --bad: #b3372f;
       font: 15px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 72em; padding: 0 1em;
       color: var(--text); background: var(--page); overflow-wrap: anywhere }
h1 { font-size: 1.4em; line-height: 1.3 } h2 { font-size: 1.15em; margin: 1.8em 0 .5em }
h3 { font-size: 1em; margin: 1em 0 .3em; font-weight: 600 } a { color: var(--link) }
h1 .verdict { color: #fff; padding: .1em .5em; border-radius: .3em; margin-right: .4em }
.sat { background: #2a7f4f } .unsat { background: #b3372f } .unknown { background: #6b6b6b }
.words { font-size: 1.1em } .meta { color: var(--edge) }
table { border-collapse: collapse } th, td { border: 1px solid var(--line); padding: .2em .5em;
       text-align: left; vertical-align: top }
th { background: var(--soft); font-weight: 600 } caption { text-align: left; font-weight: 600 }
pre, code { font: 13px/1.45 ui-monospace, monospace } td pre { margin: 0 }
pre { overflow-x: auto; max-width: 100%; margin: .3em 0 } td code { overflow-wrap: anywhere }
.wide { overflow-x: auto; max-width: 100% }
.facts { margin: .4em 0 .8em 1.6em; max-width: 100%; display: block; overflow-x: auto }
.facts th { font: 13px/1.45 ui-monospace, monospace; max-width: 16em; min-width: 4em }
.variable th, .variable td { color: var(--edge) }
.value { margin: 0 } .value th { min-width: 0 }
.run { list-style: none; margin: 0; padding: 0 } .run .run { margin-left: 1.2em;
       border-left: 2px solid var(--line); padding-left: .6em }
.step { margin: 0; border-bottom: 1px solid var(--line) } .step summary { font-weight: 400; padding: .25em 0 }
.step p { margin: .2em 0 .2em 1.6em } .number { display: inline-block; min-width: 2em; color: var(--edge) }
summary .value { font: 13px/1.45 ui-monospace, monospace; padding: 0 .25em; border-radius: .2em;
       margin-right: .3em }
mark { background: var(--mark); color: var(--text) } .rest { color: var(--edge); font-size: .9em }
.rest + .rest::before { content: '· ' }
.conjuncts { margin: .2em 0; padding-left: 1.4em } .conjuncts li { margin: .1em 0 }
.invariant details, .invariant summary { margin: .2em 0; font-weight: 400; font-size: .92em }
:target { background: var(--mark) }
details { margin-top: 1.2em } .step { margin-top: 0 } summary { cursor: pointer; font-weight: 600 }
.clause { display: flex; gap: .8em } .clause .at { color: var(--edge); min-width: 3em; text-align: right;
       font: 13px/1.45 ui-monospace, monospace; margin: .3em 0 } .clause pre { flex: 1; min-width: 0 }
.scroll { overflow: auto; max-height: 75vh; border: 1px solid var(--line); border-radius: .3em;
       margin-top: .4em }
.graph label { margin-right: .8em } .graph .z50:checked ~ .scroll svg { zoom: .5 }
.graph .z200:checked ~ .scroll svg { zoom: 2 }
.graph .fit:checked ~ .scroll svg { width: 100%; height: auto }
svg text { font: 12px system-ui, sans-serif; fill: var(--text, #222) }
.node { fill: var(--node, #eef3fa); stroke: #4a6fa5 } .used { fill: var(--hit, #fbe3e1); stroke: #b3372f }
.end { fill: var(--page, #fff); stroke: #999 } .edge { fill: none; stroke: var(--edge, #888) }
.back { fill: none; stroke: var(--edge, #888); stroke-dasharray: 4 3 } .tip { fill: var(--edge, #888) }
.engine { fill: #7fa7d6 } .pass { fill: #b9c98a } .check { fill: #e0a96d } .timeline text { fill: var(--text, #222) }
";

/// Further rules for dark screens.
const DARK: &str = "
body { --text: #e4e6ea; --page: #17191c; --soft: #23262b; --line: #3a3f47; --link: #8ab8f5; --mark: #57480f;
       --node: #24344a; --edge: #9aa0a8; --hit: #55241f }
.engine { fill: #35628f } .pass { fill: #5d6d2e } .check { fill: #8f5e24 }
";

/// Further rules for small windows.
const NARROW: &str = "
body { margin: .8em auto; padding: 0 .6em } h1 { font-size: 1.2em }
.facts { margin-left: 0 } .facts th { max-width: 9em } .step p { margin-left: 0 }
.run .run { margin-left: .3em } .clause { display: block } .clause .at { text-align: left }
";

/// Further rules for paper: everything is open, and nothing scrolls.
const PRINT: &str = "
body { max-width: none; margin: 0 } .graph label, .graph input { display: none }
.scroll { overflow: visible; max-height: none } svg { max-width: 100%; height: auto }
pre { white-space: pre-wrap } details::details-content { content-visibility: visible; height: auto }
";

/// The rules of a page, or with a scope those of a fragment in an element of this selector.
pub fn style(scope: Option<&str>) -> String {
    let rules = |text: &str| match scope {
        Some(scope) => scoped(text, scope),
        None => text.to_owned(),
    };
    let mut out = rules(BASE);
    for (media, text) in [
        ("screen and (prefers-color-scheme: dark)", DARK),
        ("screen and (max-width: 640px)", NARROW),
        ("print", PRINT),
    ] {
        out.push_str(&format!("@media {media} {{\n{}}}\n", rules(text)));
    }
    out
}

/// The style rules restricted to elements in `scope`; `body` stands for `scope` itself.
fn scoped(style: &str, scope: &str) -> String {
    let rules = style.split_inclusive('}').filter_map(|rule| {
        let (selectors, body) = rule.split_once('{')?;
        let selectors = selectors.split(',').map(|selector| match selector.trim() {
            "body" => scope.to_owned(),
            selector => format!("{scope} {selector}"),
        });
        Some(format!(
            "{} {{{body}\n",
            selectors.collect::<Vec<_>>().join(", ")
        ))
    });
    rules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_stay_inside() {
        let style = scoped("\nbody { a: b }\nth, td { c:\n d } .x y { e: f }\n", ".s");
        assert_eq!(
            style,
            ".s { a: b }\n.s th, .s td { c:\n d }\n.s .x y { e: f }\n"
        );
        let whole = super::style(Some(".s"));
        assert!(!whole.contains("body"));
        assert_eq!(whole.matches('{').count(), whole.matches('}').count());
    }
}
