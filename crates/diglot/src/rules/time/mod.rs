//! Times and how columns hold them.

lints! {
    coarse_time = COARSE_TIME,
    epoch_text = EPOCH_TEXT,
    local_time = LOCAL_TIME,
    time_format = TIME_FORMAT,
    time_out_of_range = TIME_OUT_OF_RANGE,
}
