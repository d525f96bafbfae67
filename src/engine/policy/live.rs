//! How many frames a best-effort stream keeps: enough for its time to live at its current rate.

use ff_core::backend::BestEffortLiveConfig;
use ff_core::engine_error::EngineError;

use crate::model::id::invalid_input;

/// Refuses a weight with which the average would leave all bounds: it is stored, and the next frame builds on it.
///
/// # Errors
/// `Validation(InvalidInput)` when it is not a number from 0 to 1.
pub(crate) fn check(config: &BestEffortLiveConfig) -> Result<(), EngineError> {
    let alpha = config.ema_alpha;
    if (0.0..=1.0).contains(&alpha) {
        return Ok(());
    }
    Err(invalid_input(format!("ema_alpha: must be a number from 0 to 1, and is {alpha}")))
}

/// What a stream remembers of its rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct AppendRate {
    /// Moving average in frames per second.
    pub(crate) ema_hz: f64,
    /// When the last best-effort frame was appended; 0 before the first.
    pub(crate) last_ms: i64,
}

impl AppendRate {
    /// A stream without a best-effort frame.
    pub(crate) const NONE: Self = Self { ema_hz: 0.0, last_ms: 0 };

    /// The rate after a frame at `now_ms`. A frame in the same millisecond counts as no rate at all.
    pub(crate) fn after_frame(self, config: &BestEffortLiveConfig, now_ms: i64) -> Self {
        let instant_hz =
            if self.last_ms > 0 && now_ms > self.last_ms { 1000.0 / (now_ms - self.last_ms) as f64 } else { 0.0 };
        let alpha = config.ema_alpha;
        Self { ema_hz: alpha * instant_hz + (1.0 - alpha) * self.ema_hz, last_ms: now_ms }
    }

    /// How many frames may stay: twice what the time to live holds at this rate, not under the floor,
    /// and in any case not over the ceiling.
    pub(crate) fn frames_kept(self, config: &BestEffortLiveConfig) -> i64 {
        let raw = 2 * ((self.ema_hz * f64::from(config.ttl_ms) / 1000.0).ceil() as i64).min(i64::MAX / 2);
        raw.max(i64::from(config.maxlen_floor)).min(i64::from(config.maxlen_ceiling))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_has_no_rate() {
        let rate = AppendRate::NONE.after_frame(&BestEffortLiveConfig::new(1000), 5_000);
        assert_eq!(rate, AppendRate { ema_hz: 0.0, last_ms: 5_000 });
        assert_eq!(rate.frames_kept(&BestEffortLiveConfig::new(1000)), 64);
    }

    #[test]
    fn a_steady_stream_keeps_twice_its_time_to_live() {
        let config = BestEffortLiveConfig::new(10_000);
        let mut rate = AppendRate::NONE;
        for frame in 1..=400 {
            rate = rate.after_frame(&config, frame * 10);
        }
        assert!((rate.ema_hz - 100.0).abs() < 1e-6, "{}", rate.ema_hz);
        assert!((1999..=2002).contains(&rate.frames_kept(&config)), "{}", rate.frames_kept(&config));
    }

    #[test]
    fn two_frames_in_one_millisecond_lower_the_average() {
        let config = BestEffortLiveConfig::new(1000);
        let rate = AppendRate { ema_hz: 10.0, last_ms: 100 }.after_frame(&config, 100);
        assert_eq!(rate.ema_hz, 8.0);
    }

    #[test]
    fn the_ceiling_wins_over_the_floor() {
        let config = BestEffortLiveConfig::new(1000).with_maxlen_floor(50).with_maxlen_ceiling(20);
        assert_eq!(AppendRate::NONE.frames_kept(&config), 20);
        let fast = AppendRate { ema_hz: f64::INFINITY, last_ms: 1 };
        assert_eq!(fast.frames_kept(&config), 20);
    }
}
