//! A statement taken apart into facts that can be compared one by one.
