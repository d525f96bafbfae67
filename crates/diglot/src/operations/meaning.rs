//! What operations mean, with what engines differ in as parameters.

use crate::rule;

/// What an operation gives for what it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The sum of two numbers.
    Add(Number),
    /// Their difference.
    Subtract(Number),
    /// Their product.
    Multiply(Number),
    /// Their quotient.
    Divide(Number, Zero),
    /// What is left of a division.
    Remainder(Number, Zero),
    /// The opposite of a number.
    Negate(Number),
    /// The number itself.
    Same,
    /// A number without its sign.
    Absolute(Number),
    /// −1, 0 or 1, as a number of that kind.
    Sign(Number),
    /// A power.
    Power,
    /// Bits that both have.
    BitAnd,
    /// Bits that either has.
    BitOr,
    /// Bits that one alone has.
    BitXor,
    /// Bits that it has not.
    BitNot,
    /// Bits moved to the left, by more than there are.
    ShiftLeft(Bound),
    /// Bits moved to the right.
    ShiftRight(Bound),
    /// The nearest whole number.
    Round(Number, Half),
    /// The nearest number of so many digits.
    RoundTo(Number, Half),
    /// The next whole number below, above, or towards zero.
    Floor(Number),
    /// See [`Meaning::Floor`].
    Ceiling(Number),
    /// See [`Meaning::Floor`].
    Truncate(Number),
    /// The greatest of several.
    Greatest(Null),
    /// The least of several.
    Least(Null),
    /// Whether two values are equal.
    Equal(Sort),
    /// Whether they are not.
    Unequal(Sort),
    /// Whether one is less, and so on.
    Less(Sort),
    /// See [`Meaning::Less`].
    LessOrEqual(Sort),
    /// See [`Meaning::Less`].
    More(Sort),
    /// See [`Meaning::Less`].
    MoreOrEqual(Sort),
    /// Whether they are equal, or both NULL.
    NotDistinct(Sort),
    /// Whether they are not.
    Distinct(Sort),
    /// Whether a text has the form of a pattern.
    Like(Case),
    /// Whether a text has the form of a pattern of the shell.
    Glob,
    /// Whether a text has the form of a regular expression.
    Matches(Case),
    /// A text in small letters.
    Lower(Collation),
    /// A text in capital letters.
    Upper(Collation),
    /// How many characters.
    Length(Characters),
    /// A part of a text or of bytes.
    Substring(Negative),
    /// The first or last characters.
    Left,
    /// See [`Meaning::Left`].
    Right,
    /// Where a text has another one in it.
    Position,
    /// Where a text stands in another one.
    PlaceIn,
    /// Whether a text begins with another one.
    Begins,
    /// A text with every occurrence of one in place of another, and what NULL in its place does where there is none.
    Replace(Null),
    /// A text with others in place of single characters.
    Translate,
    /// A text without spaces, or other characters, at both ends.
    Trim,
    /// At its beginning.
    TrimLeft,
    /// At its end.
    TrimRight,
    /// A text filled up at its beginning.
    PadLeft,
    /// At its end.
    PadRight,
    /// A text several times.
    Repeat,
    /// A text from its end to its beginning.
    Reverse,
    /// Two texts, or lists, one behind the other.
    Join(Concat),
    /// Texts of several, one behind the other.
    JoinAll(Concat),
    /// Texts of several with one between them.
    JoinWith,
    /// The character of a number; others are refused or not.
    Character(Number),
    /// Characters of several numbers.
    Characters,
    /// The number of the first character; NULL where there is none.
    CodePoint,
    /// The number of the first character; 0 where there is none.
    CodePointOrZero,
    /// A byte by its place.
    ByteAt,
    /// The digits of bytes.
    Hex,
    /// The bytes of digits.
    Unhex,
    /// A text made by directives.
    Format(Concat),
    /// A value as a literal.
    Quote,
    /// Bytes written as digits, or otherwise, and read from them.
    Encode,
    /// See [`Meaning::Encode`].
    Decode,
    /// The digits of a number to the base of 16.
    HexOfNumber,
    /// Bytes that are all zero.
    ZeroBytes,
    /// A digest.
    Digest,
    /// Which class of storage a value has, or which type.
    TypeName(&'static str),
    /// The first of several that is not NULL.
    Coalesce,
    /// NULL in place of one value.
    NullIf,
    /// One of two values, by a condition.
    Choose,
    /// A hint that changes nothing.
    Hint,
    /// A value as another type: from, to.
    Convert(&'static str, Number),
    /// Numbers for chance.
    Chance(&'static str),
    /// What the clock says.
    Now(Clock),
    /// What a text of time means, in a unit or as a text.
    Time(&'static str),
    /// What a session, a connection or a server is set to.
    Session(&'static str),
    /// What is told to others, or done, beside the rows.
    Effect(&'static str),
    /// A member, an element, or a whole of a document, read, written or made.
    Document(&'static str),
    /// A list, made, read or changed.
    List(&'static str),
    /// How many rows, or values.
    Count,
    /// Their sum.
    Sum(Sum),
    /// Their mean.
    Average(Sum),
    /// The greatest of them.
    Largest(Sort),
    /// The least.
    Smallest(Sort),
    /// Whether all, or any, are true.
    Every,
    /// See [`Meaning::Every`].
    Some,
    /// Their texts, with one between them.
    Collect,
    /// A number for each row by its place.
    RowNumber,
    /// The place among equals, with or without gaps.
    Rank,
    /// See [`Meaning::Rank`].
    DenseRank,
    /// The share of rows before it.
    PercentRank,
    /// See [`Meaning::PercentRank`].
    CumulativeShare,
    /// Which of so many parts, and what no number of parts gives.
    Tile(Zero),
    /// A value of the row before.
    Before,
    /// The same with a value for none, and what NULL rows before gives.
    BeforeOr(Null),
    /// Of the row behind.
    Behind,
    /// The same with a value for none, and what NULL rows behind gives.
    BehindOr(Null),
    /// Of the first row of the frame.
    First,
    /// Of the last.
    Last,
    /// Of one by its number, and what no number gives.
    Nth(Zero),
    /// The order of texts.
    Ordered(Collation),
    /// The rows of a list or a document.
    Rows(&'static str),
}

/// A kind of numbers, and what happens beyond its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// 64 bits; beyond them it goes on with real numbers.
    Wide,
    /// 64 bits; beyond them it fails.
    WideChecked,
    /// 32 bits; beyond them it fails.
    Narrow,
    /// Double precision, with infinity beyond the ends.
    Real,
    /// Double precision; beyond the ends it fails.
    RealChecked,
    /// Any precision.
    Exact,
    /// By what the value itself is.
    AsGiven,
    /// Whatever can be made of the value; nothing is refused.
    Lenient,
    /// Only what is written like it; anything else is refused.
    Strict,
}

/// What a division by zero gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zero {
    /// NULL.
    Null,
    /// An error.
    Error,
}

/// What a number of bits beyond the width does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// It moves all bits out; a negative one moves the other way.
    Out,
    /// It begins anew at the width, of 64 bits.
    Modulo64,
    /// It begins anew at the width, of 32 bits.
    Modulo32,
}

/// Where a half goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Half {
    /// Away from zero.
    Away,
    /// To the even neighbour.
    Even,
}

/// What NULL among several does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Null {
    /// The whole is NULL.
    Taken,
    /// It is passed over.
    Skipped,
}

/// By what values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// As whole numbers.
    Whole,
    /// As real numbers.
    Real,
    /// A whole number beside a real one, both exactly.
    Mixed,
    /// A whole number beside a real one, made real itself.
    MixedAsReal,
    /// As texts, by their bytes.
    Bytes,
    /// As texts, by a language.
    Language,
    /// By class of storage, and by affinity.
    Storage,
    /// As values of one other type.
    Own,
}

/// Whether letters of both cases are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Those of ASCII; no character escapes.
    Ascii,
    /// None; a backslash escapes.
    No,
    /// All; a backslash escapes.
    All,
}

/// Which letters have two cases, and how texts are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collation {
    /// Those of ASCII; by bytes.
    Ascii,
    /// Those of the language.
    Language,
    /// By bytes, without letters of ASCII having two cases.
    Folded,
    /// By bytes, without spaces at the end.
    Trimmed,
}

/// What a length counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Characters {
    /// Characters.
    Each,
    /// Bytes.
    Bytes,
    /// Bits.
    Bits,
    /// Characters of what a value is written as.
    Written,
}

/// Where a part with a beginning before the first character begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Negative {
    /// So many characters before the end.
    FromEnd,
    /// Before the text, of which the part then has less.
    Before,
    /// See [`Negative::Before`]; a negative length fails.
    BeforeBytes,
}

/// How values become texts that are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concat {
    /// Texts alone are joined.
    Texts,
    /// Everything is written as SQLite writes it.
    Anything,
    /// Everything is written as Postgres writes it.
    Printed,
    /// Bytes.
    Bytes,
    /// Members of documents.
    Documents,
    /// Elements of lists.
    Lists,
}

/// What a clock gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// A text, of UTC.
    Text,
    /// A date.
    Date,
    /// A point in time.
    Instant,
    /// A time of day.
    TimeOfDay,
}

/// What a sum is kept in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// 64 bits; beyond them it fails.
    Wide,
    /// Any precision.
    Exact,
    /// Double precision, with infinity beyond the ends.
    Real,
    /// Double precision; beyond the ends it fails.
    RealChecked,
    /// Double precision; 0 for no rows.
    RealOrZero,
    /// Spans of time.
    Span,
}

impl Meaning {
    /// The rule that tells where two meanings of one kind differ, with its precondition; none where the comparison of
    /// the trees tells it.
    pub fn guard(&self) -> Option<&'static str> {
        Some(match self {
            Meaning::Add(_) | Meaning::Subtract(_) | Meaning::Multiply(_) => rule::NARROW_ARITHMETIC.name,
            Meaning::Negate(_) | Meaning::Absolute(_) => rule::HUGE_NUMBER.name,
            Meaning::Divide(..) | Meaning::Remainder(..) => rule::DIVIDED_BY_ZERO.name,
            Meaning::ShiftLeft(_) | Meaning::ShiftRight(_) => rule::SHIFT_COUNT.name,
            Meaning::Round(..) | Meaning::RoundTo(..) => rule::HALF_ROUNDED.name,
            Meaning::Floor(_) | Meaning::Ceiling(_) | Meaning::Truncate(_) => rule::MISSING_FUNCTION.name,
            Meaning::Equal(_) | Meaning::Unequal(_) | Meaning::NotDistinct(_) | Meaning::Distinct(_) => {
                rule::MIXED_TYPES.name
            }
            Meaning::Less(_) | Meaning::LessOrEqual(_) | Meaning::More(_) | Meaning::MoreOrEqual(_) => {
                rule::TEXT_ORDER.name
            }
            Meaning::Largest(_) | Meaning::Smallest(_) | Meaning::Ordered(_) => rule::TEXT_ORDER.name,
            Meaning::Like(_) => rule::LIKE_CASE.name,
            Meaning::Lower(_) | Meaning::Upper(_) => rule::TEXT_ORDER.name,
            Meaning::Substring(_) => rule::NEGATIVE_SUBSTR.name,
            Meaning::Join(_) | Meaning::JoinAll(_) => rule::NUMBER_JOINED.name,
            Meaning::Convert(..) => rule::CAST_WIDTH.name,
            Meaning::Sum(_) | Meaning::Average(_) => rule::COLUMN_TYPE_CONFLICT.name,
            Meaning::Greatest(_) | Meaning::Least(_) => rule::NULL_KEY.name,
            Meaning::Chance(_) => rule::SAME_NAME_FUNCTION.name,
            Meaning::Format(_) => rule::FORMAT_DIRECTIVE.name,
            _ => return None,
        })
    }
}
