//! The fields of an OP-V instruction, and where its second operand comes from.

/// Which of the three opcode tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Category {
    /// OPIVV, OPIVX, OPIVI
    Integer,
    /// OPMVV, OPMVX
    Multiply,
    /// OPFVV, OPFVF
    Float,
}

/// The second operand (the field `vs1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Second {
    /// A vector register group.
    Vector,
    /// An x or f register.
    Scalar,
    Immediate,
}

/// The fields of an OP-V instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub category: Category,
    pub second: Second,
    pub funct6: u32,
    /// Masked by v0.
    pub masked: bool,
    pub vd: usize,
    pub vs2: usize,
    /// `vs1`, `rs1` or the immediate's five bits.
    pub vs1: usize,
}

impl Form {
    pub fn new(raw: u32) -> Form {
        let (category, second) = match raw >> 12 & 7 {
            0 => (Category::Integer, Second::Vector),
            3 => (Category::Integer, Second::Immediate),
            4 => (Category::Integer, Second::Scalar),
            2 => (Category::Multiply, Second::Vector),
            6 => (Category::Multiply, Second::Scalar),
            1 => (Category::Float, Second::Vector),
            _ => (Category::Float, Second::Scalar),
        };
        Form {
            category,
            second,
            funct6: raw >> 26,
            masked: raw >> 25 & 1 == 0,
            vd: (raw >> 7 & 31) as usize,
            vs2: (raw >> 20 & 31) as usize,
            vs1: (raw >> 15 & 31) as usize,
        }
    }

    /// The immediate, sign-extended.
    pub fn simm(&self) -> u64 {
        ((self.vs1 as i64) << 59 >> 59) as u64
    }

    /// vmv1r.v to vmv8r.v: the one arithmetic instruction that does not need a valid `vtype`.
    pub fn is_whole_move(&self) -> bool {
        self.category == Category::Integer && self.second == Second::Immediate && self.funct6 == 0x27
    }
}
