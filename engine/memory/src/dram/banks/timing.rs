//! The device's timing parameters as durations between commands.

use crate::config::DramConfig;

/// Durations in ticks, derived once.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    pub row: RowTiming,
    pub bus: BusTiming,
    pub cl: u64,
    pub cwl: u64,
    pub wr: u64,
    pub rtp: u64,
    pub rfc: u64,
    pub refresh_every: u64,
}

/// Opening and closing rows.
#[derive(Clone, Copy, Debug)]
pub struct RowTiming {
    pub rcd_rd: u64,
    pub rcd_wr: u64,
    pub rp: u64,
    pub ras: u64,
    pub rrd: u64,
    pub rrd_l: u64,
    pub xaw: u64,
    pub ppd: u64,
}

/// Bursts on the data bus, and from one to the next.
#[derive(Clone, Copy, Debug)]
pub struct BusTiming {
    pub burst: u64,
    pub burst_min: u64,
    pub ccd_l: u64,
    pub ccd_l_wr: u64,
    pub write_to_read: u64,
    pub write_to_read_l: u64,
    pub read_to_write: u64,
    pub rank_to_rank: u64,
    pub read_to_write_gap: u64,
    pub write_to_read_gap: u64,
}

impl Timing {
    pub fn new(c: &DramConfig) -> Self {
        Timing {
            row: RowTiming {
                rcd_rd: c.tRCD,
                rcd_wr: c.tRCD_WR,
                rp: c.tRP,
                ras: c.tRAS,
                rrd: c.tRRD,
                rrd_l: if c.bank_groups_per_rank > 0 { c.tRRD_L } else { c.tRRD },
                xaw: c.tXAW,
                ppd: c.tPPD,
            },
            bus: BusTiming {
                burst: c.tBURST,
                burst_min: c.tBURST_MIN,
                ccd_l: c.tCCD_L,
                ccd_l_wr: c.tCCD_L_WR,
                write_to_read: c.tBURST + c.tWTR + c.tCWL,
                write_to_read_l: c.tBURST + c.tWTR_L + c.tCWL,
                read_to_write: c.tBURST + c.tRTW,
                rank_to_rank: c.tBURST + c.tCS,
                read_to_write_gap: c.tRTW.min(c.tCS),
                write_to_read_gap: c.tWTR.min(c.tCS),
            },
            cl: c.tCL,
            cwl: c.tCWL,
            wr: c.tWR,
            rtp: c.tRTP,
            rfc: c.tRFC,
            refresh_every: c.tREFI.saturating_sub(c.tRP),
        }
    }
}
