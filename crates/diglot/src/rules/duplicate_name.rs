//! Two statements have one name.
//!
//! # What it finds
//!
//! A name that is used twice in a file or in the project, two names that are one in camel case, or a statement that stands
//! on one page for both (`-- both`) and on the other page too.
//!
//! # Why it bites
//!
//! Each name is a function of one trait; two could not be told apart.
//!
//! # Write instead
//!
//! Begin names with their file's noun.
//!
//! # Example
//!
//! ```text
//! -- name: lease_renew :opt
//! ```
