//! The words of the normal form. Each has one place where its spelling stands; a word that no equivalence looks for keeps
//! its own.

use crate::types::Base;

/// Declares an enum of words. With `others` it holds any other word as well.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$of])* $variant,)* }

        impl $name {
            /// How it is spelled.
            pub(crate) fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }
        }
    };
    ($(#[$doc:meta])* $name:ident and others { $($(#[$of:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) enum $name { $($(#[$of])* $variant,)* Other(String) }

        impl $name {
            /// How it is spelled.
            pub(crate) fn word(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                match word {
                    $($word => Self::$variant,)*
                    other => Self::Other(other.to_owned()),
                }
            }
        }
    };
}

words! {
    /// An operator, or a condition.
    Op and others {
        And = "and",
        Between = "between",
        Differs = "<>",
        DistinctFrom = "is distinct from",
        Equals = "=",
        Exists = "exists",
        In = "in",
        IsFalse = "is false",
        IsNotFalse = "is not false",
        IsNotNull = "is not null",
        IsNotTrue = "is not true",
        IsNull = "is null",
        IsTrue = "is true",
        Join = "||",
        JoinDocuments = "|| of documents",
        Less = "<",
        LessOrEqual = "<=",
        Minus = "-",
        Not = "not",
        NotBetween = "not between",
        NotDistinctFrom = "is not distinct from",
        NotExists = "not exists",
        NotIn = "not in",
        NotInListIfAny = "not in, if there is a list,",
        Or = "or",
        Times = "*",
    }
}

words! {
    /// A function by its name, in lower case.
    Function and others {
        Avg = "avg",
        BoolAnd = "bool_and",
        BoolOr = "bool_or",
        CharLength = "char_length",
        CharacterLength = "character_length",
        ClockTimestamp = "clock_timestamp",
        Coalesce = "coalesce",
        Concat = "concat",
        Count = "count",
        CurrentDate = "current_date",
        CurrentTimestamp = "current_timestamp",
        DateTime = "datetime",
        Encode = "encode",
        Every = "every",
        Extract = "extract",
        Floor = "floor",
        GenRandomUuid = "gen_random_uuid",
        Greatest = "greatest",
        Hex = "hex",
        If = "if",
        Ifnull = "ifnull",
        Iif = "iif",
        Instr = "instr",
        JsonPatch = "json_patch",
        JsonbStripNulls = "jsonb_strip_nulls",
        JulianDay = "julianday",
        Least = "least",
        Left = "left",
        Length = "length",
        Lower = "lower",
        Max = "max",
        Min = "min",
        Nextval = "nextval",
        Now = "now",
        Nullif = "nullif",
        OctetLength = "octet_length",
        Position = "position",
        Random = "random",
        RandomBlob = "randomblob",
        Replace = "replace",
        Right = "right",
        Round = "round",
        StartsWith = "starts_with",
        StatementTimestamp = "statement_timestamp",
        Strftime = "strftime",
        StringAgg = "string_agg",
        Strpos = "strpos",
        Substr = "substr",
        Substring = "substring",
        Sum = "sum",
        ToTimestamp = "to_timestamp",
        Total = "total",
        Trunc = "trunc",
        UnixEpoch = "unixepoch",
        Upper = "upper",
        UuidSend = "uuid_send",
    }
}

impl Function {
    /// Whether it reads or converts time.
    pub(super) fn is_of_time(&self) -> bool {
        matches!(
            self,
            Self::ClockTimestamp
                | Self::CurrentDate
                | Self::CurrentTimestamp
                | Self::DateTime
                | Self::Extract
                | Self::JulianDay
                | Self::Now
                | Self::StatementTimestamp
                | Self::Strftime
                | Self::ToTimestamp
                | Self::UnixEpoch
        )
    }

    /// Whether it reads or makes documents: one part of its name says so.
    pub(super) fn is_of_documents(&self) -> bool {
        self.word().split('_').any(|part| part == "json" || part == "jsonb")
    }

    /// Whether it gives another value each time.
    pub(super) fn is_drawn(&self) -> bool {
        matches!(self, Self::GenRandomUuid | Self::Nextval | Self::Random | Self::RandomBlob)
    }

    /// Whether it folds rows, of those that make no text of them.
    pub(super) fn folds_rows(&self) -> bool {
        matches!(self, Self::Avg | Self::Count | Self::Max | Self::Min | Self::Sum | Self::Total)
    }
}

words! {
    /// What a cast makes of a value. Integers of all widths are one.
    Target and others {
        DateTime = "datetime",
        Int = "int",
        IntRounded = "int rounded",
        Json = "json",
        Numeric = "numeric",
        Real = "f64",
        RealBesideOthers = "real",
        Text = "text",
        Timestamp = "timestamp",
    }
}

words! {
    /// A part of a text that is no operation of its own, or an operation of the normal form that no engine has a name for.
    Form {
        Array = "array",
        Case = "case",
        CaseOperand = "of",
        Columns = "columns",
        Distinct = "distinct",
        EpochMilliseconds = "epoch milliseconds",
        EpochSeconds = "epoch seconds",
        Filter = "filter",
        From = "from",
        Group = "group",
        Having = "having",
        Items = "items",
        Json = "json",
        JsonAppend = "json-append",
        JsonArray = "json-array",
        JsonGroupArray = "json-group-array",
        JsonObject = "json-object",
        JsonSet = "json-set",
        KeyedMember = "keyed",
        LettersOfBytes = "letters of bytes",
        Limit = "limit",
        List = "list",
        LowerHex = "lower-hex",
        Member = "member",
        Members = "members",
        NoElements = "no elements",
        Null = "null",
        Offset = "offset",
        On = "on",
        Order = "order",
        Partition = "partition",
        Query = "query",
        RoundHalfToEven = "round half to even",
        Row = "row",
        Scalar = "scalar",
        Select = "select",
        StartsWith = "starts with",
        SubstrFromTheEnd = "substr from the end",
        TimeOfTheStatement = "time of the statement",
        Values = "values",
        When = "when",
        Where = "where",
    }
}

words! {
    /// What is read of a member of a document.
    Read {
        /// How many elements an array has; Postgres has no answer for what is none.
        Length = "json-length",
        /// How many elements it has: none where it is no array, as SQLite gives it.
        LengthOrZero = "json-length or zero",
        /// Its text, as Postgres gives it.
        Text = "json-text",
        /// What it is, in SQLite's words.
        Type = "json-type",
        /// What it is, in Postgres's words.
        TypeOf = "json-typeof",
        /// The value in SQL's type, as SQLite gives it.
        Typed = "json-typed",
        /// The document that it is.
        Value = "json-value",
    }
}

words! {
    /// How a member is set.
    Setting {
        Merged = "merged ",
        NullForNull = "null for null ",
        Plain = "",
        UnlessNull = "unless null ",
        WhenThere = "only when there ",
    }
}

words! {
    /// Which column of a function that gives the elements of a list.
    Element {
        Key = "key",
        Ordinality = "ordinality",
        Value = "value",
    }
}

impl Target {
    /// The target of a cast to a type.
    pub(super) fn of(base: &Base) -> Self {
        match base {
            Base::Int16 | Base::Int32 | Base::Int64 => Self::Int,
            other => Self::from(other.word()),
        }
    }

    /// What the project declares a value in a document to be.
    pub(super) fn declared(word: &str) -> Self {
        // Digits are a text.
        if word == super::DIGITS {
            return Self::Text;
        }
        Base::from_word(word).map_or_else(|| Self::from(word), |base| Self::of(&base))
    }
}
