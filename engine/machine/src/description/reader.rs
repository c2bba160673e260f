//! Typed, bounds-checked access to the parameters of an object. A getter records an error and
//! returns a harmless value, so that one pass reports all errors.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use breakeven_base::ConfigError;
use breakeven_memory::config::AddrRange;
use serde_json::Value;

use super::graph::{Graph, Object};
use super::suggest::suggest;

/// How the engine uses a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// Any value but the modelled one is refused.
    Checked,
    Read,
}

/// A parameter that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Used {
    pub class: String,
    pub what: Use,
    /// The values it takes, in words; empty: whatever its type holds.
    pub takes: String,
}

/// Parameters read, by the object's path and the parameter's name. With an empty name: the object's class.
pub type Uses = BTreeMap<(String, String), Used>;

/// A graph and what was found wrong with it so far.
pub(super) struct Reader {
    graph: Graph,
    errors: RefCell<Vec<ConfigError>>,
    /// Recorded on request only.
    uses: Option<RefCell<Uses>>,
}

/// One object, seen through a [`Reader`].
#[derive(Clone, Copy)]
pub(super) struct Obj<'a> {
    reader: &'a Reader,
    object: &'a Object,
}

impl Reader {
    pub fn new(graph: Graph) -> Self {
        Reader { graph, errors: RefCell::default(), uses: None }
    }
    /// A reader that notes every parameter that is looked at.
    pub fn noting(graph: Graph) -> Self {
        Reader { uses: Some(RefCell::default()), ..Reader::new(graph) }
    }
    pub fn into_uses(self) -> Uses {
        self.uses.unwrap_or_default().into_inner()
    }
    fn note(&self, object: &Object, name: &str, what: Use, takes: impl FnOnce() -> String) {
        let Some(uses) = &self.uses else { return };
        let new = || Used { class: object.class.clone(), what, takes: String::new() };
        let mut uses = uses.borrow_mut();
        let known = uses.entry((object.path.clone(), name.to_owned())).or_insert_with(new);
        known.what = what.max(known.what);
        if known.takes.is_empty() {
            known.takes = takes();
        }
    }

    pub fn error(&self, path: impl Into<String>, what: impl Into<String>) {
        let e = ConfigError::new(path, what);
        let mut errors = self.errors.borrow_mut();
        // One object is often reached along several ways.
        if !errors.contains(&e) {
            errors.push(e);
        }
    }

    pub fn errors(&self) -> Vec<ConfigError> {
        self.errors.borrow().clone()
    }

    pub fn get(&self, path: &str) -> Option<Obj<'_>> {
        self.graph.get(path).map(|object| Obj { reader: self, object })
    }

    /// Every object that is a `class`, in the order of the description.
    pub fn all<'a>(&'a self, class: &'a str) -> impl Iterator<Item = Obj<'a>> + 'a {
        self.graph.objects.iter().filter(move |o| o.is_a(class)).map(move |object| Obj { reader: self, object })
    }
}

impl<'a> Obj<'a> {
    pub fn path(self) -> &'a str {
        &self.object.path
    }
    pub fn class(self) -> &'a str {
        &self.object.class
    }
    pub fn is_a(self, class: &str) -> bool {
        self.object.is_a(class)
    }

    /// The error stands against the object.
    pub fn error(self, what: impl Into<String>) {
        self.reader.error(self.path(), what);
    }
    /// The error stands against one of its parameters.
    pub fn param_error(self, name: &str, what: impl Into<String>) {
        self.reader.error(format!("{}.{name}", self.path()), what);
    }

    /// The class must be one of `known`.
    pub fn expect_class(self, what: &str, known: &[&str]) -> bool {
        let ok = known.contains(&self.class());
        if ok {
            self.reader.note(self.object, "", Use::Read, String::new);
        } else {
            self.error(format!(
                "{} is not a {what} that this engine models{}",
                self.class(),
                suggest(self.class(), known)
            ));
        }
        ok
    }

    fn value(self, name: &str) -> Option<&'a Value> {
        self.takes(name, String::new);
        self.object.params.get(name)
    }

    /// Notes that the parameter is read, and which values it takes.
    fn takes(self, name: &str, what: impl FnOnce() -> String) {
        self.reader.note(self.object, name, Use::Read, what);
    }

    fn required(self, name: &str) -> Option<&'a Value> {
        let v = self.value(name);
        if v.is_none() {
            self.param_error(name, format!("is missing; a {} has this parameter", self.class()));
        }
        v
    }

    fn check_int(self, name: &str, v: &Value, range: &RangeInclusive<u64>) -> u64 {
        self.takes(name, || bounds(range));
        match as_u64(v) {
            Some(n) if range.contains(&n) => n,
            _ => {
                self.param_error(
                    name,
                    format!("is {}; it must be a whole number between {} and {}", show(v), range.start(), range.end()),
                );
                *range.start()
            }
        }
    }

    /// A whole number that the class always has.
    pub fn int(self, name: &str, range: RangeInclusive<u64>) -> u64 {
        self.required(name).map_or(*range.start(), |v| self.check_int(name, v, &range))
    }
    /// A whole number that is ours or that older descriptions lack.
    pub fn int_or(self, name: &str, default: u64, range: RangeInclusive<u64>) -> u64 {
        self.value(name).map_or(default, |v| self.check_int(name, v, &range))
    }
    pub fn u32(self, name: &str, range: RangeInclusive<u32>) -> u32 {
        // In range by the check.
        self.int(name, u64::from(*range.start())..=u64::from(*range.end())) as u32
    }
    pub fn u32_or(self, name: &str, default: u32, range: RangeInclusive<u32>) -> u32 {
        self.int_or(name, u64::from(default), u64::from(*range.start())..=u64::from(*range.end())) as u32
    }
    pub fn pow2(self, name: &str, range: RangeInclusive<u64>) -> u64 {
        self.takes(name, || format!("a power of two, {}", bounds(&range)));
        let n = self.int(name, range.clone());
        if n.is_power_of_two() || n == 0 {
            return n;
        }
        self.param_error(name, format!("is {n}; it must be a power of two"));
        (*range.start()).next_power_of_two()
    }

    pub fn bool(self, name: &str) -> bool {
        self.required(name).is_some_and(|v| self.check_bool(name, v))
    }
    pub fn bool_or(self, name: &str, default: bool) -> bool {
        self.value(name).map_or(default, |v| self.check_bool(name, v))
    }
    fn check_bool(self, name: &str, v: &Value) -> bool {
        v.as_bool().unwrap_or_else(|| {
            self.param_error(name, format!("is {}; it must be true or false", show(v)));
            false
        })
    }

    /// A real number that is ours or that older descriptions lack.
    pub fn float_or(self, name: &str, default: f64, range: RangeInclusive<f64>) -> f64 {
        self.takes(name, || format!("{} to {}", range.start(), range.end()));
        let Some(v) = self.value(name) else { return default };
        match v.as_f64() {
            Some(x) if range.contains(&x) => x,
            _ => {
                self.param_error(
                    name,
                    format!("is {}; it must be a number between {} and {}", show(v), range.start(), range.end()),
                );
                default
            }
        }
    }

    /// A string that is ours or that older descriptions lack.
    pub fn text_or<'d>(self, name: &str, default: &'d str) -> &'d str
    where
        'a: 'd,
    {
        match self.value(name) {
            None => default,
            Some(Value::String(s)) => s,
            Some(v) => {
                self.param_error(name, format!("is {}; it must be a string", show(v)));
                default
            }
        }
    }

    /// An enumeration: the index in `known`.
    pub fn choice_or(self, name: &str, default: usize, known: &[&str]) -> usize {
        self.takes(name, || known.join(", "));
        let Some(v) = self.value(name) else { return default };
        let at = v.as_str().and_then(|s| known.iter().position(|k| *k == s));
        at.unwrap_or_else(|| {
            let near = suggest(v.as_str().unwrap_or_default(), known);
            self.param_error(name, format!("is {}, which this engine does not model{near}", show(v)));
            default
        })
    }

    /// An error unless the parameter is absent or has the one value that is modelled.
    pub fn only(self, name: &str, modelled: &Value, why: &str) {
        self.reader.note(self.object, name, Use::Checked, || format!("only {modelled}"));
        if let Some(v) = self.object.params.get(name) {
            if v != modelled {
                self.param_error(name, format!("is {}; this engine models only {modelled}: {why}", show(v)));
            }
        }
    }

    /// An object that may be null; absent counts as null.
    pub fn opt_ref(self, name: &str) -> Option<Obj<'a>> {
        match self.value(name) {
            None | Some(Value::Null) => None,
            Some(v) => self.resolve(name, v),
        }
    }
    /// An object that has to be there.
    pub fn a_ref(self, name: &str) -> Option<Obj<'a>> {
        match self.required(name)? {
            Value::Null => {
                self.param_error(name, "is null; it needs an object");
                None
            }
            v => self.resolve(name, v),
        }
    }
    /// A vector of objects (a single one counts as a vector of one).
    pub fn refs(self, name: &str) -> Vec<Obj<'a>> {
        match self.value(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().filter_map(|v| self.resolve(name, v)).collect(),
            Some(v) => self.resolve(name, v).into_iter().collect(),
        }
    }
    fn resolve(self, name: &str, v: &Value) -> Option<Obj<'a>> {
        let Some(path) = v.get("ref").and_then(Value::as_str) else {
            self.param_error(name, format!("is {}; it must be an object reference {{\"ref\": path}}", show(v)));
            return None;
        };
        let found = self.reader.get(path);
        if found.is_none() {
            self.param_error(name, format!("refers to {path}, which the description does not contain"));
        }
        found
    }

    /// A vector of whole numbers (a single one counts as a vector of one).
    pub fn ints(self, name: &str, range: RangeInclusive<u64>) -> Vec<u64> {
        match self.value(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().map(|v| self.check_int(name, v, &range)).collect(),
            Some(v) => vec![self.check_int(name, v, &range)],
        }
    }

    /// A vector of truth values (a single one counts as a vector of one).
    pub fn bools(self, name: &str) -> Vec<bool> {
        match self.value(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().map(|v| self.check_bool(name, v)).collect(),
            Some(v) => vec![self.check_bool(name, v)],
        }
    }

    /// A vector of strings (a single one counts as a vector of one).
    pub fn texts(self, name: &str) -> Vec<&'a str> {
        let list: &'a [Value] = match self.value(name) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(list)) => list,
            Some(one) => std::slice::from_ref(one),
        };
        let text = |v: &'a Value| {
            if v.as_str().is_none() {
                self.param_error(name, format!("has {}; it takes strings", show(v)));
            }
            v.as_str()
        };
        list.iter().filter_map(text).collect()
    }

    /// A vector of address ranges (a single one counts as a vector of one).
    pub fn ranges(self, name: &str) -> Vec<AddrRange> {
        match self.value(name) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.iter().filter_map(|v| self.check_range(name, v)).collect(),
            Some(v) => self.check_range(name, v).into_iter().collect(),
        }
    }
    fn check_range(self, name: &str, v: &Value) -> Option<AddrRange> {
        match (v.get("start").and_then(as_u64), v.get("end").and_then(as_u64)) {
            (Some(start), Some(end)) if start < end => Some(AddrRange { start, end }),
            _ => {
                self.param_error(
                    name,
                    format!("is {}; a range is {{\"start\": a, \"end\": b}} with a below b (b exclusive)", show(v)),
                );
                None
            }
        }
    }

    /// What the port is connected to: objects with their port's name.
    pub fn peers(self, port: &str) -> Vec<(Obj<'a>, &'a str)> {
        let Some(list) = self.object.ports.get(port) else { return Vec::new() };
        list.iter()
            .filter_map(|peer| {
                let found = peer.rsplit_once('.').and_then(|(path, p)| {
                    let p = p.split_once('[').map_or(p, |(name, _)| name);
                    self.reader.get(path).map(|o| (o, p))
                });
                if found.is_none() {
                    self.param_error(port, format!("is connected to {peer}, which the description does not contain"));
                }
                found
            })
            .collect()
    }
    /// The one peer of a port that must be connected.
    pub fn peer(self, port: &str) -> Option<(Obj<'a>, &'a str)> {
        let known = self.object.ports.get(port).map_or(0, Vec::len);
        if known != 1 {
            self.param_error(port, format!("is connected to {known} ports; it must be connected to exactly one"));
            return None;
        }
        self.peers(port).pop()
    }

    /// The clock's period in ticks, through clock domains.
    pub fn clock_period(self) -> u64 {
        let Some(mut domain) = self.a_ref("clk_domain") else { return 1 };
        let mut divider = 1u64;
        for _ in 0..16 {
            match domain.class() {
                "DerivedClockDomain" => {
                    divider = divider.saturating_mul(domain.int("clk_divider", 1..=1 << 20));
                    let Some(parent) = domain.a_ref("clk_domain") else { return 1 };
                    domain = parent;
                }
                _ if domain.expect_class("clock domain", &["SrcClockDomain", "DerivedClockDomain"]) => {
                    // 1 THz .. 1 kHz: other clocks are errors.
                    let clocks = domain.ints("clock", 1..=1_000_000_000);
                    let [period] = clocks[..] else {
                        let what = format!(
                            "has {} periods; it must be a list of one: clocks do not change here",
                            clocks.len()
                        );
                        domain.param_error("clock", what);
                        return 1;
                    };
                    let period = period.saturating_mul(divider);
                    if period > 1_000_000_000 {
                        domain.param_error("clock", format!("divided by {divider} is below 1 kHz"));
                        return 1;
                    }
                    return period;
                }
                _ => return 1,
            }
        }
        self.param_error("clk_domain", "goes through more than 16 derived clock domains: they form a circle");
        1
    }
}

/// A JSON number that is a whole number; 4.0 counts.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // checked: whole, in range
fn as_u64(v: &Value) -> Option<u64> {
    v.as_u64().or_else(|| v.as_f64().filter(|x| x.fract() == 0.0 && (0.0..9e15).contains(x)).map(|x| x as u64))
}

/// A range in words; nothing where it is what the type holds.
fn bounds(range: &RangeInclusive<u64>) -> String {
    match (*range.start(), *range.end()) {
        (0, end) if end >= u64::from(u32::MAX) => String::new(),
        (start, end) => format!("{start} to {end}"),
    }
}

/// A value in a sentence, cut when long.
fn show(v: &Value) -> String {
    let text = v.to_string();
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}
