//! Settings of engines, with one table for each engine.
//!
//! The table of an engine, written with the macro `settings!`, is the only place that names a
//! setting, with its type, default, range, purpose and source. The struct of options, its default,
//! the names on the command line and the output of `--settings` are generated from it.
//!
//! Invariant: a setting shows the value that it has, so a new engine shows its defaults. This
//! module knows no engine.

use thiserror::Error;

/// The type and value of a setting, by mutable reference.
pub enum Value<'a> {
    /// `true` or `false`.
    Flag(&'a mut bool),
    /// A number of at least `least`; `none` stands for `usize::MAX`.
    Count {
        /// The number.
        value: &'a mut usize,
        /// The least value that may be set.
        least: usize,
    },
    /// A number, or `none` for no limit.
    Limit(&'a mut Option<u32>),
    /// One of several names.
    Choice(&'a mut dyn Choice),
    /// The name of a file, or `none`.
    File(&'a mut Option<String>),
}

/// A type of a setting.
pub trait SettingType {
    /// The value, by mutable reference. If it is a number, only numbers of at least `least` may be
    /// set.
    fn value(&mut self, least: usize) -> Value<'_>;
}

impl SettingType for bool {
    fn value(&mut self, _least: usize) -> Value<'_> {
        Value::Flag(self)
    }
}

impl SettingType for usize {
    fn value(&mut self, least: usize) -> Value<'_> {
        Value::Count { value: self, least }
    }
}

impl SettingType for Option<u32> {
    fn value(&mut self, _least: usize) -> Value<'_> {
        Value::Limit(self)
    }
}

impl SettingType for Option<String> {
    fn value(&mut self, _least: usize) -> Value<'_> {
        Value::File(self)
    }
}

impl<T: Choice> SettingType for T {
    fn value(&mut self, _least: usize) -> Value<'_> {
        Value::Choice(self)
    }
}

/// A choice among named alternatives.
pub trait Choice {
    /// The names of all alternatives.
    fn names(&self) -> &'static [&'static str];

    /// The name of the current alternative.
    fn name(&self) -> &'static str;

    /// Chooses the alternative with this name; `None` if there is none.
    fn choose(&mut self, name: &str) -> Option<()>;
}

/// Defines an enumeration whose alternatives have names on the command line.
#[macro_export]
macro_rules! choices {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $alternative:ident = $text:literal,)+
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $name { $($(#[$doc])* $alternative,)+ }

        impl $crate::settings::Choice for $name {
            fn names(&self) -> &'static [&'static str] {
                &[$($text,)+]
            }

            fn name(&self) -> &'static str {
                match self {
                    $($name::$alternative => $text,)+
                }
            }

            fn choose(&mut self, name: &str) -> Option<()> {
                *self = match name {
                    $($text => $name::$alternative,)+
                    _ => return None,
                };
                Some(())
            }
        }
    };
}

/// Defines the settings of an engine. A line is `name: type = default`, followed by `from N` where
/// a number has a least value other than 0, by `source "…"` where the setting has a source, and by
/// `paper "…"` where the engine's paper has a value for it; `--settings` shows its doc comment.
///
/// Generates the struct with these fields, its `Default`, and a method `settings`, which lists the
/// settings. On the command line a name has hyphens in place of underscores.
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* $options:ident {
        $(
            $(#[doc = $doc:literal])+
            $name:ident: $type:ty = $default:expr
                $(, from $least:literal)? $(, source $source:literal)? $(, paper $paper:literal)?;
        )+
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct $options {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nDefault: `", stringify!($default), "`.")]
                $(#[doc = concat!(" Source: ", $source, ".")])?
                $(#[doc = concat!(" In the paper: `", $paper, "`.")])?
                pub $name: $type,
            )+
        }

        impl Default for $options {
            fn default() -> Self {
                $options { $($name: $default,)+ }
            }
        }

        impl $options {
            /// All settings with references to their current values.
            pub(super) fn settings(&mut self) -> Vec<$crate::settings::Setting<'_>> {
                use $crate::settings::{Setting, SettingType};
                vec![$(
                    Setting {
                        name: stringify!($name).replace('_', "-"),
                        about: &[$($doc),+],
                        source: None::<&str>$(.or(Some($source)))?,
                        paper: None::<&str>$(.or(Some($paper)))?,
                        value: SettingType::value(&mut self.$name, 0 $(+ $least)?),
                    },
                )+]
            }
        }
    };
}

pub use crate::{choices, settings};

/// A setting of an engine, with a reference to its value.
pub struct Setting<'a> {
    /// The name on the command line, without the engine's.
    pub name: String,
    /// The purpose, line by line.
    pub about: &'static [&'static str],
    /// The paper or program that the setting comes from.
    pub source: Option<&'static str>,
    /// The value in the engine's paper, for [`AS_IN_PAPER`].
    pub paper: Option<&'static str>,
    /// The type and the current value.
    pub value: Value<'a>,
}

/// The name under which `true` sets all settings that have a value in the engine's paper to that
/// value. A text behind it may change one of them again.
pub const AS_IN_PAPER: &str = "as-in-paper";

/// An error in the text of a setting.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum SettingError {
    /// The text does not have the form `ENGINE.NAME=VALUE`.
    #[error("{0:?} is not ENGINE.NAME=VALUE")]
    Form(String),
    /// The engine has no setting with this name.
    #[error("there is no setting {0}: --settings lists them")]
    Unknown(String),
    /// The setting cannot have this value.
    #[error("{name} is {range}, not {text:?}")]
    Value {
        /// The setting, with its engine.
        name: String,
        /// The values that it may have.
        range: String,
        /// The value that was given.
        text: String,
    },
}

impl Value<'_> {
    /// The values that may be set, for messages.
    pub fn range(&self) -> String {
        match self {
            Value::Flag(_) => "true or false".to_owned(),
            Value::Count { least, .. } => format!("a number from {least}, or none"),
            Value::Limit(_) => "a number, or none".to_owned(),
            Value::Choice(choice) => choice.names().join(" or "),
            Value::File(_) => "a file's name that does not begin with -, or none".to_owned(),
        }
    }

    /// The current value, in the form in which it is set.
    pub fn show(&self) -> String {
        match self {
            Value::Flag(flag) => flag.to_string(),
            Value::Count { value, .. } if **value == usize::MAX => "none".to_owned(),
            Value::Count { value, .. } => value.to_string(),
            Value::Limit(limit) => limit.map_or("none".to_owned(), |n| n.to_string()),
            Value::Choice(choice) => choice.name().to_owned(),
            Value::File(file) => (**file).clone().unwrap_or("none".to_owned()),
        }
    }

    /// Sets the value; `None` if the text is no value of the setting.
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
            Value::Choice(choice) => choice.choose(text)?,
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

impl Setting<'_> {
    /// Describes the setting: a line `NAME=VALUE (RANGE)`, followed by lines with its purpose and
    /// source.
    pub fn describe(&self, engine: &str) -> String {
        let (value, range) = (self.value.show(), self.value.range());
        let mut text = format!("{engine}.{}={value} ({range})\n", self.name);
        for line in self.about {
            text += &format!("    {}\n", line.trim());
        }
        if let Some(source) = self.source {
            text += &format!("    Source: {source}.\n");
        }
        if let Some(paper) = self.paper {
            text += &format!("    With {engine}.{AS_IN_PAPER}=true: {paper}.\n");
        }
        text
    }
}

/// Sets those of the texts `ENGINE.NAME=VALUE` that name the engine `engine`.
///
/// # Errors
/// The first text that has another form, or names no setting of this engine, or no value that it
/// may have.
pub fn apply(
    engine: &str,
    mut settings: Vec<Setting<'_>>,
    texts: &[String],
) -> Result<(), SettingError> {
    for text in texts {
        let form = || SettingError::Form(text.clone());
        let (name, value) = text.split_once('=').ok_or_else(form)?;
        let (owner, own) = name.split_once('.').ok_or_else(form)?;
        if owner != engine {
            continue;
        }
        if own == AS_IN_PAPER && settings.iter().any(|s| s.paper.is_some()) {
            as_in_paper(name, value, &mut settings)?;
            continue;
        }
        let setting = settings.iter_mut().find(|s| s.name == own);
        let setting = setting.ok_or_else(|| SettingError::Unknown(name.to_owned()))?;
        let wrong = SettingError::Value {
            name: name.to_owned(),
            range: setting.value.range(),
            text: value.to_owned(),
        };
        setting.value.set(value).ok_or(wrong)?;
    }
    Ok(())
}

/// Sets the settings with a value in the paper to it, if the text is `true`.
fn as_in_paper(name: &str, text: &str, settings: &mut [Setting<'_>]) -> Result<(), SettingError> {
    let mut is_wanted = false;
    let mut flag = Value::Flag(&mut is_wanted);
    let wrong = |name: &str, range: String, text: &str| SettingError::Value {
        name: name.to_owned(),
        range,
        text: text.to_owned(),
    };
    let range = flag.range();
    flag.set(text).ok_or_else(|| wrong(name, range, text))?;
    if !is_wanted {
        return Ok(());
    }
    for setting in settings {
        let Some(paper) = setting.paper else {
            continue;
        };
        let range = setting.value.range();
        let set = setting.value.set(paper);
        set.ok_or_else(|| wrong(&setting.name, range, paper))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    choices! {
        /// A colour.
        Colour {
            Red = "red",
            DarkBlue = "dark-blue",
        }
    }

    settings! {
        /// One setting of each type.
        Options {
            /// Whether to look.
            /// Or not.
            look: bool = true;
            /// How often.
            how_often: usize = 3, from 2, source "Nobody, NOWHERE 2000", paper "5";
            /// The end.
            end: Option<u32> = None;
            /// The colour.
            colour: Colour = Colour::Red, paper "dark-blue";
            /// The file.
            file: Option<String> = None;
        }
    }

    fn shown(options: &mut Options) -> String {
        options.settings().iter().map(|s| s.describe("x")).collect()
    }

    #[test]
    fn a_table_makes_defaults_names_and_a_list() {
        let list = "x.look=true (true or false)\n    Whether to look.\n    Or not.\n\
            x.how-often=3 (a number from 2, or none)\n    How often.\n    \
            Source: Nobody, NOWHERE 2000.\n    With x.as-in-paper=true: 5.\n\
            x.end=none (a number, or none)\n    The end.\n\
            x.colour=red (red or dark-blue)\n    The colour.\n    \
            With x.as-in-paper=true: dark-blue.\n\
            x.file=none (a file's name that does not begin with -, or none)\n    The file.\n";
        assert_eq!(shown(&mut Options::default()), list);
    }

    #[test]
    fn the_papers_values_are_set_together_and_changed_again() {
        let mut options = Options::default();
        let set =
            |options: &mut Options, text: &str| apply("x", options.settings(), &[text.to_owned()]);
        assert_eq!(set(&mut options, "x.as-in-paper=false"), Ok(()));
        assert_eq!(options.how_often, 3);
        assert_eq!(set(&mut options, "x.as-in-paper=true"), Ok(()));
        assert_eq!((options.how_often, options.colour), (5, Colour::DarkBlue));
        assert!(options.look);
        assert_eq!(set(&mut options, "x.how-often=7"), Ok(()));
        assert_eq!((options.how_often, options.colour), (7, Colour::DarkBlue));
        let wrong = set(&mut options, "x.as-in-paper=1");
        assert!(matches!(wrong, Err(SettingError::Value { .. })));
    }

    #[test]
    fn texts_change_values_in_their_range() {
        let mut options = Options::default();
        let mut set = |text: &str| apply("x", options.settings(), &[text.to_owned()]);
        for text in [
            "x.look=false",
            "x.how-often=none",
            "x.end=7",
            "x.colour=dark-blue",
            "x.file=a",
            "y.look=true",
        ] {
            assert_eq!(set(text), Ok(()), "{text}");
        }
        let value = |e| matches!(e, Err(SettingError::Value { .. }));
        for text in [
            "x.look=1",
            "x.how-often=1",
            "x.end=-1",
            "x.colour=",
            "x.file=-a",
        ] {
            assert!(value(set(text)), "{text}");
        }
        for text in ["x", "x.look", "=", "x=1"] {
            assert_eq!(set(text), Err(SettingError::Form(text.to_owned())));
        }
        for text in ["x.how_often=3", "x.=1"] {
            assert!(matches!(set(text), Err(SettingError::Unknown(_))), "{text}");
        }
        assert!(!options.look);
        assert_eq!((options.how_often, options.end), (usize::MAX, Some(7)));
        assert_eq!(options.colour, Colour::DarkBlue);
        assert_eq!(options.file.as_deref(), Some("a"));
    }
}
