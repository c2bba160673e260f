//! The platform around the hart: RAM, CLINT, UART, HTIF, uncacheable regions, pseudo-ops.
//!
//! For RISC-V the memory map is Spike's and `HiFive`'s: CLINT at 0x200_0000 (time at 10 MHz unless the description's RTC says
//! otherwise), a polled 16550 UART at 0x1000_0000 that is always ready to send and never receives, RAM where
//! `system.mem_ranges` puts it. Nothing else answers. HTIF exists when the ELF has the symbols. For x86 there is the UART
//! alone, at port 0x3f8, which the front end reaches at [`IO_BASE`].

mod clint;
mod console;
mod htif;
mod pseudo;

use std::sync::Arc;
use std::time::{Duration, Instant};

use breakeven_base::bus::ExitCause;
use breakeven_base::{
    Bus, BusError, ConfigError, FaultAnswer, MemImage, Now, PhysAddr, PhysMem, PseudoOutcome, SysEffect, Syscall,
    SyscallDone, Tick, UserContext, UserFault,
};
use breakeven_memory::config::AddrRange;

pub use clint::{Clint, CLINT_BASE, CLINT_SIZE, DEFAULT_TIME_HZ};
pub use console::{Console, Sink};
pub use htif::Htif;
pub use pseudo::{Outputs, OUTPUT_LIMIT};

use breakeven_x86::IO_BASE;

use crate::se::Process;

/// Readings kept at most: a point of a million measurements has two million.
pub(crate) const READINGS: usize = 1 << 22;

const UART_BASE: u64 = 0x1000_0000;
const COM1: u64 = IO_BASE + 0x3f8;
const UART_SIZE: u64 = 8;
const UART_LINE_STATUS: u64 = 5;
/// Transmitter empty, holding register empty.
const UART_READY: u64 = 0x60;

/// The description of the platform around the core.
#[derive(Clone, Debug)]
pub struct PlatformConfig {
    /// RAM; one range.
    pub memory: AddrRange,
    pub uncacheable: Vec<AddrRange>,
    pub devices: DeviceMap,
    pub time_hz: u64,
}

/// Where the devices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceMap {
    pub clint: Option<u64>,
    pub uart: Option<u64>,
}

impl DeviceMap {
    /// A process under syscall emulation sees no device.
    pub const NONE: DeviceMap = DeviceMap { clint: None, uart: None };

    #[must_use]
    pub fn riscv(clint: u64) -> DeviceMap {
        DeviceMap { clint: Some(clint), uart: Some(UART_BASE) }
    }
    #[must_use]
    pub fn x86() -> DeviceMap {
        DeviceMap { clint: None, uart: Some(COM1) }
    }
}

impl PlatformConfig {
    /// A device whose registers lie where RAM is.
    #[must_use]
    pub fn device_inside_ram(&self) -> Option<(&'static str, u64)> {
        let clint = self.devices.clint.map(|base| ("CLINT", base, CLINT_SIZE));
        let uart = self.devices.uart.map(|base| ("UART", base, UART_SIZE));
        clint
            .into_iter()
            .chain(uart)
            .find(|(_, base, size)| self.memory.start < base + size && *base < self.memory.end)
            .map(|(n, b, _)| (n, b))
    }
}

/// What a work item's begin and end do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// As in gem5.
    Reported,
    /// The core executes in detail: a run pauses before the item's end.
    InDetail,
    /// The core executes functionally: a run pauses before the next item's begin.
    Functional,
}

/// Before which pseudo-ops a run pauses.
#[derive(Clone, Copy, Debug)]
pub struct Pauses {
    /// The next `readfile`: the sweep's snapshot.
    pub at_readfile: bool,
    pub work: Work,
    /// It has paused before a work item's begin or end.
    pub at_work: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Platform {
    ram: PhysMem,
    devices: Devices,
    uncacheable: Vec<AddrRange>,
    map: DeviceMap,
    pub readfile: Arc<[u8]>,
    pub init_param: u64,
    pub outputs: Outputs,
    pub pauses: Pauses,
    /// Delay and period, in nanoseconds, of the effect that a pseudo-op has just had.
    pub delay: (u64, u64),
    /// A request of the guest that was refused: it ends the run.
    pub refusal: Option<String>,
    /// The cycles at which the guest read its cycle counter, recorded on request.
    pub cycle_reads: Option<Vec<u64>>,
    /// The process that runs in user mode, under syscall emulation.
    pub process: Option<Box<Process>>,
    /// When the slice began, and whether calls have made it too long since.
    slice_began: Instant,
    slice_is_over: bool,
}

/// How long calls of the guest's may keep the host before the run's observer is asked.
const LONGEST_SLICE: Duration = Duration::from_millis(20);

/// The devices' state: what a snapshot keeps beside RAM.
#[derive(Clone, Debug)]
pub struct Devices {
    clint: Clint,
    htif: Option<Htif>,
    pub console: Console,
}

impl Platform {
    /// RAM and devices at reset.
    ///
    /// # Errors
    /// When the host refuses the memory.
    pub fn new(config: &PlatformConfig) -> Result<Platform, ConfigError> {
        let ram = PhysMem::new(config.memory.start, config.memory.end - config.memory.start)?;
        let devices = Devices { clint: Clint::new(config.time_hz), htif: None, console: Console::default() };
        Ok(Platform::over(ram, devices, config))
    }

    /// A copy of a frozen platform.
    ///
    /// # Errors
    /// When the host refuses the memory.
    pub fn from_image(image: &MemImage, devices: &Devices, config: &PlatformConfig) -> Result<Platform, ConfigError> {
        let mut ram = image.open()?;
        if let Some(h) = devices.htif {
            ram.watch(h.tohost);
        }
        Ok(Platform::over(ram, devices.clone(), config))
    }

    fn over(ram: PhysMem, devices: Devices, config: &PlatformConfig) -> Platform {
        Platform {
            ram,
            devices,
            uncacheable: config.uncacheable.clone(),
            map: config.devices,
            readfile: Arc::new([]),
            init_param: 0,
            outputs: Outputs::default(),
            pauses: Pauses { at_readfile: false, work: Work::Reported, at_work: false },
            delay: (0, 0),
            refusal: None,
            cycle_reads: None,
            process: None,
            slice_began: Instant::now(),
            slice_is_over: false,
        }
    }

    /// A slice of a run begins: its observer has been asked, or will be at its end.
    pub(crate) fn begin_slice(&mut self) {
        (self.slice_began, self.slice_is_over) = (Instant::now(), false);
    }
    /// A call of the guest's has been answered, or a long instruction executed.
    fn call_is_over(&mut self) {
        self.slice_is_over |= self.slice_began.elapsed() >= LONGEST_SLICE;
    }

    /// Puts RAM and devices back to the image that RAM was opened from.
    ///
    /// # Errors
    /// When the host cannot drop what was written.
    pub fn restore(&mut self, devices: &Devices) -> Result<(), ConfigError> {
        self.ram.reset_to_image()?;
        self.devices.clone_from(devices);
        self.outputs.files.clear();
        (self.delay, self.refusal) = ((0, 0), None);
        Ok(())
    }

    pub fn set_htif(&mut self, htif: Htif) {
        self.ram.watch(htif.tohost);
        self.devices.htif = Some(htif);
    }
    #[must_use]
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Where the console's output goes; a process: its standard output.
    pub fn set_stdout(&mut self, sink: Box<dyn Sink>) {
        match &mut self.process {
            Some(process) => process.set_stdout(sink),
            None => self.devices.console.set_sink(sink),
        }
    }
    /// Where a process's standard error goes.
    pub fn set_stderr(&mut self, sink: Box<dyn Sink>) {
        if let Some(process) = &mut self.process {
            process.set_stderr(sink);
        }
    }
    /// What a process has stored to files that it mapped goes back to them.
    pub(crate) fn write_back(&mut self) {
        if let Some(process) = &mut self.process {
            process.write_back(&self.ram);
        }
    }
    /// Passes on what the console still holds; why something was lost, if it was.
    pub(crate) fn flush_console(&mut self) -> Option<String> {
        self.devices.console.flush();
        self.devices.console.failure()
    }

    fn in_clint(&self, paddr: u64, size: u16) -> Option<u64> {
        within(self.map.clint?, CLINT_SIZE, paddr, size)
    }

    fn in_uart(&self, paddr: u64, size: u16) -> Option<u64> {
        within(self.map.uart?, UART_SIZE, paddr, size)
    }

    fn unanswered(paddr: u64, size: u16) -> BusError {
        BusError { paddr, size }
    }
}

/// The offset in a device that answers the whole access.
fn within(base: u64, len: u64, paddr: u64, size: u16) -> Option<u64> {
    paddr.checked_sub(base).filter(|o| o.saturating_add(u64::from(size)) <= len)
}

impl Bus for Platform {
    #[inline]
    fn ram(&self) -> &PhysMem {
        &self.ram
    }
    #[inline]
    fn ram_mut(&mut self) -> &mut PhysMem {
        &mut self.ram
    }

    fn device_read(&mut self, paddr: u64, size: u16, now: Tick) -> Result<u64, BusError> {
        if let Some(offset) = self.in_clint(paddr, size) {
            return Ok(self.devices.clint.read(offset, size, now));
        }
        match self.in_uart(paddr, size) {
            Some(UART_LINE_STATUS) => Ok(UART_READY),
            Some(_) => Ok(0),
            None => Err(Self::unanswered(paddr, size)),
        }
    }

    fn device_write(&mut self, paddr: u64, size: u16, value: u64, now: Tick) -> Result<SysEffect, BusError> {
        if let Some(htif) = self.devices.htif.filter(|_| self.ram.watched(paddr)) {
            // The line may hold other things than tohost.
            let touches = paddr < htif.tohost + 8 && htif.tohost < paddr + u64::from(size);
            return Ok(if touches { htif.poll(&mut self.ram, &mut self.devices.console) } else { SysEffect::None });
        }
        if let Some(offset) = self.in_clint(paddr, size) {
            self.devices.clint.write(offset, size, value, now);
            return Ok(SysEffect::None);
        }
        match self.in_uart(paddr, size) {
            Some(0) => {
                self.devices.console.put(&[value as u8]);
                Ok(SysEffect::None)
            }
            Some(_) => Ok(SysEffect::None),
            None => Err(Self::unanswered(paddr, size)),
        }
    }

    fn is_device(&self, paddr: u64) -> bool {
        self.in_clint(paddr, 1).or(self.in_uart(paddr, 1)).is_some()
    }

    #[inline]
    fn is_uncacheable(&self, paddr: u64) -> bool {
        self.uncacheable.iter().any(|r| r.contains(PhysAddr(paddr)))
    }

    #[inline]
    fn irq_deadline(&self) -> Tick {
        self.devices.clint.deadline().min(self.user_deadline())
    }
    fn irq_lines(&self, now: Tick) -> u64 {
        self.devices.clint.lines(now)
    }
    fn timer(&self, now: Tick) -> u64 {
        self.devices.clint.time(now)
    }

    fn cycle_read(&mut self, cycle: u64) {
        if let Some(reads) = self.cycle_reads.as_mut().filter(|r| r.len() < READINGS) {
            reads.push(cycle);
        }
    }

    fn pseudo_op(
        &mut self,
        func: u8,
        args: [u64; 6],
        now: Now,
        translate: &mut dyn FnMut(&mut PhysMem, u64, bool) -> Option<u64>,
    ) -> PseudoOutcome {
        let Some(mut process) = self.process.take() else {
            let outcome = self.run_pseudo_op(func, args, now, translate);
            self.call_is_over();
            return outcome;
        };
        // A page of the process may not have been touched yet.
        let mut present = |ram: &mut PhysMem, vaddr: u64, write: bool| {
            translate(ram, vaddr, write)
                .or_else(|| process.present(ram, vaddr, write).then(|| translate(ram, vaddr, write)).flatten())
        };
        let outcome = self.run_pseudo_op(func, args, now, &mut present);
        self.process = Some(process);
        self.call_is_over();
        outcome
    }

    fn syscall(&mut self, call: &Syscall, now: Now, context: &mut dyn UserContext) -> SyscallDone {
        let Some(process) = &mut self.process else {
            return SyscallDone { ret: Some(u64::MAX), bases: call.bases, stale: false, effect: SysEffect::None };
        };
        let done = process.syscall(&mut self.ram, call, now, context);
        self.call_is_over();
        done
    }
    #[inline]
    fn worked_long(&mut self) {
        self.call_is_over();
    }
    fn slice_is_over(&self) -> bool {
        self.slice_is_over
    }

    #[inline]
    fn user_deadline(&self) -> Tick {
        self.process.as_ref().map_or(Tick::MAX, |process| process.deadline())
    }
    fn user_preempt(&mut self, now: Now, context: &mut dyn UserContext) -> Option<FaultAnswer> {
        let answer = self.process.as_mut()?.preempt(&mut self.ram, now, context);
        self.call_is_over();
        answer
    }

    fn user_fault(&mut self, pc: u64, fault: UserFault, context: &mut dyn UserContext) -> FaultAnswer {
        let Some(process) = &mut self.process else {
            // Only a process's front end asks; without one nothing can be mapped.
            return FaultAnswer::End(SysEffect::Exit { cause: ExitCause::ProcessSignal, code: 128 });
        };
        let answer = process.fault(&mut self.ram, pc, fault, context);
        self.call_is_over();
        answer
    }
}
