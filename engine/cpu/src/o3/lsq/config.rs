//! The load-store queue's parameters that gem5 does not have. By default they change nothing against gem5, except where
//! hardware and gem5 differ under TSO (see each).

use breakeven_base::ConfigError;

/// What a load does that an older store covers in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PartialForward {
    /// gem5: waits until the store has been written to the cache.
    #[default]
    WaitForStore,
    /// Is `forwardFailPenalty` cycles late after the store has been written to the cache.
    Penalty,
}

/// *Ours*, all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_snake_case)]
pub struct LsqConfig {
    /// Cycles from a load's execution to the data that a store hands it (gem5: 1).
    pub forwardLatency: u32,
    pub partialForwardPolicy: PartialForward,
    /// Cycles.
    pub forwardFailPenalty: u32,
    /// With `needsTSO`: stores in flight at once. 1 is gem5's; 0: no limit, ownership requests overlap and stores complete
    /// in order.
    pub tsoStoresInFlight: u32,
    /// A store that misses leaves the queue as it is sent: a fill buffer takes it, and later ones to the line on its way
    /// (the P6's: US patent 5,671,444). It is still not written before the line is there.
    pub storesLeaveOnMiss: bool,
    /// Low address bits by which a load is taken for dependent on an older store; 0: no such check.
    pub aliasCheckBits: u32,
    /// Cycles a load loses to a false match.
    pub aliasPenalty: u32,
    /// A fence of both loads and stores (`mfence`, `fence rw,rw`) completes this many cycles after its dispatch at the
    /// earliest. Its own work so overlaps with what it waits for: of a short body between two fences, that much is hidden.
    pub fenceLatency: u32,
    /// ... and this many after the last older store has been written to the cache.
    pub fenceAfterStores: u32,
}

impl Default for LsqConfig {
    fn default() -> Self {
        LsqConfig {
            forwardLatency: 1,
            partialForwardPolicy: PartialForward::WaitForStore,
            forwardFailPenalty: 0,
            tsoStoresInFlight: 0,
            storesLeaveOnMiss: false,
            aliasCheckBits: 0,
            aliasPenalty: 0,
            fenceLatency: 0,
            fenceAfterStores: 0,
        }
    }
}

impl LsqConfig {
    /// # Errors
    /// Values out of range; `path` is the core's.
    pub fn check(&self, path: &str) -> Result<(), Vec<ConfigError>> {
        let mut errors = Vec::new();
        for (name, value, low, high) in [
            ("forwardLatency", self.forwardLatency, 1, 255),
            ("forwardFailPenalty", self.forwardFailPenalty, 0, 10_000),
            ("tsoStoresInFlight", self.tsoStoresInFlight, 0, 1024),
            ("aliasCheckBits", self.aliasCheckBits, 0, 32),
            ("aliasPenalty", self.aliasPenalty, 0, 10_000),
            ("fenceLatency", self.fenceLatency, 0, 10_000),
            ("fenceAfterStores", self.fenceAfterStores, 0, 10_000),
        ] {
            if !(low..=high).contains(&value) {
                errors.push(ConfigError::new(format!("{path}.{name}"), format!("is {value}; must be {low} to {high}")));
            }
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }
}
