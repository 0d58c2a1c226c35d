//! Settings of engines by name, for the command line.
//!
//! Invariant: a setting shows the value that it would be set from, so the value shown by a new
//! engine is the default.

use thiserror::Error;

use super::Engine;
use super::registry::{ENGINES, find};

/// What a setting holds.
pub enum Value<'a> {
    /// `true` or `false`.
    Flag(&'a mut bool),
    /// A number from `least` on; `none` stands for the largest.
    Count { value: &'a mut usize, least: usize },
    /// A number, or `none` for no limit.
    Limit(&'a mut Option<u32>),
    /// One of several names.
    Choice(&'a mut dyn Choice),
    /// The name of a file, or `none`.
    File(&'a mut Option<String>),
}

/// A choice among alternatives with names.
pub trait Choice {
    /// All names, in the order of their numbers.
    fn names(&self) -> &'static [&'static str];

    /// The number of the alternative that is chosen.
    fn chosen(&self) -> usize;

    /// Chooses the alternative of a number; numbers without a name change nothing.
    fn choose(&mut self, number: usize);
}

/// An enumeration whose alternatives have names on the command line.
macro_rules! choices {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $alternative:ident = $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$doc])* $alternative,)+ }

        impl $name {
            const ALL: &'static [$name] = &[$($name::$alternative,)+];
        }

        impl $crate::engine::settings::Choice for $name {
            fn names(&self) -> &'static [&'static str] {
                &[$($text,)+]
            }

            fn chosen(&self) -> usize {
                $name::ALL.iter().position(|a| a == self).unwrap_or(0)
            }

            fn choose(&mut self, number: usize) {
                if let Some(&chosen) = $name::ALL.get(number) {
                    *self = chosen;
                }
            }
        }
    };
}

pub(super) use choices;

/// One choice of an engine.
pub struct Setting<'a> {
    pub name: &'static str,
    /// A sentence, with its source where there is one.
    pub about: &'static str,
    pub value: Value<'a>,
}

/// A setting on the command line that means nothing.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum SettingError {
    #[error("{0:?} is not ENGINE.NAME=VALUE")]
    Form(String),
    #[error("there is no setting {0}: --settings lists them")]
    Unknown(String),
    #[error("{name} is {range}, not {text:?}")]
    Value {
        name: String,
        range: String,
        text: String,
    },
}

impl Value<'_> {
    /// What the value may be.
    pub fn range(&self) -> String {
        match self {
            Value::Flag(_) => "true or false".to_owned(),
            Value::Count { least, .. } => format!("a number from {least}, or none"),
            Value::Limit(_) => "a number, or none".to_owned(),
            Value::Choice(choice) => choice.names().join(" or "),
            Value::File(_) => "a file's name that does not begin with -, or none".to_owned(),
        }
    }

    /// The value as it is set.
    pub fn show(&self) -> String {
        match self {
            Value::Flag(flag) => flag.to_string(),
            Value::Count { value, .. } if **value == usize::MAX => "none".to_owned(),
            Value::Count { value, .. } => value.to_string(),
            Value::Limit(limit) => limit.map_or("none".to_owned(), |n| n.to_string()),
            Value::Choice(choice) => choice.names()[choice.chosen()].to_owned(),
            Value::File(file) => (**file).clone().unwrap_or("none".to_owned()),
        }
    }

    /// Takes over a value; `None` when the text is none.
    fn set(&mut self, text: &str) -> Option<()> {
        match self {
            Value::Flag(flag) => **flag = text.parse().ok()?,
            Value::Count { value, least } => {
                let number = match text {
                    "none" => usize::MAX,
                    text => text.parse().ok()?,
                };
                **value = (number >= *least).then_some(number)?;
            }
            Value::Limit(limit) => {
                **limit = match text {
                    "none" => None,
                    text => Some(text.parse().ok()?),
                }
            }
            Value::Choice(choice) => {
                let number = choice.names().iter().position(|&name| name == text)?;
                choice.choose(number);
            }
            Value::File(file) => {
                **file = match text {
                    "none" => None,
                    text if text.is_empty() || text.starts_with('-') => return None,
                    text => Some(text.to_owned()),
                }
            }
        }
        Some(())
    }
}

/// Applies those of the settings `ENGINE.NAME=VALUE` that are the engine's.
///
/// # Errors
/// The first setting that means nothing, of any engine.
pub fn apply(engine: &mut dyn Engine, settings: &[String]) -> Result<(), SettingError> {
    for text in settings {
        let form = || SettingError::Form(text.clone());
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let (owner, own) = name.split_once('.').ok_or_else(form)?;
        if owner != engine.name() {
            continue;
        }
        let mut known = engine.settings();
        let setting = known.iter_mut().find(|s| s.name == own);
        let setting = setting.ok_or_else(|| SettingError::Unknown(name.to_owned()))?;
        setting
            .value
            .set(value)
            .ok_or_else(|| SettingError::Value {
                name: name.to_owned(),
                range: setting.value.range(),
                text: value.to_owned(),
            })?;
    }
    Ok(())
}

/// Whether all settings are known and have a value in range.
///
/// # Errors
/// The first setting that means nothing.
pub fn check(settings: &[String]) -> Result<(), SettingError> {
    for text in settings {
        let owner = text.split(['.', '=']).next().unwrap_or_default();
        let entry = find(owner).ok_or_else(|| SettingError::Unknown(text.clone()))?;
        apply((entry.make)().as_mut(), std::slice::from_ref(text))?;
    }
    Ok(())
}

/// All settings with defaults, ranges and what they are for, a line or two each.
pub fn list() -> String {
    let mut out = String::new();
    for entry in ENGINES {
        let mut engine = (entry.make)();
        for setting in engine.settings() {
            out += &format!(
                "{}.{}={} ({})\n    {}\n",
                entry.name,
                setting.name,
                setting.value.show(),
                setting.value.range(),
                setting.about
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_settings_take_their_own_value_and_no_nonsense() {
        let mut count = 0;
        for entry in ENGINES {
            let mut engine = (entry.make)();
            let shown: Vec<(String, String)> = engine
                .settings()
                .iter()
                .map(|s| (format!("{}.{}", entry.name, s.name), s.value.show()))
                .collect();
            for (name, value) in shown {
                count += 1;
                assert_eq!(check(&[format!("{name}={value}")]), Ok(()), "{name}");
                let nonsense = check(&[format!("{name}=-1")]);
                assert!(
                    matches!(nonsense, Err(SettingError::Value { .. })),
                    "{name}"
                );
            }
        }
        assert!(count > 10);
    }

    #[test]
    fn a_setting_changes_the_engine() {
        let mut engine = (find("pdr").expect("it exists").make)();
        apply(engine.as_mut(), &["pdr.guidance=false".to_owned()]).expect("it is known");
        let settings = engine.settings();
        let guidance = settings.iter().find(|s| s.name == "guidance");
        assert_eq!(guidance.map(|s| s.value.show()), Some("false".to_owned()));
        for wrong in [
            "pdr",
            "pdr.guidance",
            "pdr.x=1",
            "nobody.x=1",
            "=",
            "pdr.=1",
        ] {
            assert!(check(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
