//! What the parameters may be, and the lengths of history that they make.

use breakeven_base::ConfigError;

use crate::bpred::{check_range, check_shift, TageParams};

/// Tagged tables at most: the number of a table is a shift in the index's hash.
const MAX_TABLES: u32 = 31;
/// Entries of all tables together at most, as a power of two.
const MAX_LOG_ENTRIES: u32 = 24;

/// A geometric series from `minHist` to `maxHist`, one length a tagged table.
pub fn history_lengths(p: &TageParams) -> Vec<u32> {
    let (n, min, max) = (p.n_history_tables, f64::from(p.min_hist), f64::from(p.max_hist));
    (1..=n)
        .map(|i| match i {
            _ if i == n => p.max_hist,
            1 => p.min_hist,
            _ => (min * (max / min).powf(f64::from(i - 1) / f64::from(n - 1)) + 0.5) as u32,
        })
        .collect()
}

pub fn check(p: &TageParams, path: &str) -> Result<(), ConfigError> {
    let bound = |name: &str, v: u32, lo: u32, hi: u32| check_range(path, name, v, lo, hi);
    bound("nHistoryTables", p.n_history_tables, 1, MAX_TABLES)?;
    bound("minHist", p.min_hist, 1, 1 << 16)?;
    bound("maxHist", p.max_hist, p.min_hist, 1 << 16)?;
    if p.hist_buffer_size <= 2 * p.max_hist {
        let message = format!("{}: must be above twice maxHist ({})", p.hist_buffer_size, p.max_hist);
        return Err(ConfigError::new(format!("{path}.histBufferSize"), message));
    }
    bound("tagTableCounterBits", p.tag_table_counter_bits, 1, 8)?;
    bound("tagTableUBits", p.tag_table_u_bits, 1, 2)?;
    bound("logUResetPeriod", p.log_u_reset_period, 1, 62)?;
    bound("pathHistBits", p.path_hist_bits, 0, 31)?;
    bound("useAltOnNaBits", p.use_alt_on_na_bits, 1, 8)?;
    check_shift(path, p.inst_shift_amt)?;
    let n = p.n_history_tables as usize + 1;
    for (name, len) in [
        ("logTagTableSizes", p.log_tag_table_sizes.len()),
        ("tagTableTagWidths", p.tag_table_tag_widths.len()),
        ("noSkip", if p.no_skip.is_empty() { n } else { p.no_skip.len() }),
    ] {
        if len != n {
            let message = format!("{len} elements: must be {n}, one more than nHistoryTables");
            return Err(ConfigError::new(format!("{path}.{name}"), message));
        }
    }
    for (i, (&log, &tag)) in p.log_tag_table_sizes.iter().zip(&p.tag_table_tag_widths).enumerate() {
        bound(&format!("logTagTableSizes[{i}]"), log, u32::from(i > 0), MAX_LOG_ENTRIES)?;
        let (lo, hi) = if i == 0 { (0, 0) } else { (2, 16) };
        bound(&format!("tagTableTagWidths[{i}]"), tag, lo, hi)?;
    }
    bound("logRatioBiModalHystEntries", p.log_ratio_bi_modal_hyst_entries, 0, p.log_tag_table_sizes[0])?;
    let entries: u64 = p.log_tag_table_sizes.iter().map(|log| 1_u64 << log).sum();
    if entries > 1 << MAX_LOG_ENTRIES {
        let message = format!("{entries} entries together: at most 2^{MAX_LOG_ENTRIES}");
        return Err(ConfigError::new(format!("{path}.logTagTableSizes"), message));
    }
    Ok(())
}
