//! Operation classes, gem5's names (`params.json`: OpClass), as functional units name them.

macro_rules! op_classes {
    ($($name:ident),* $(,)?) => {
        /// The kind of functional unit a micro-op needs.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
        #[repr(u8)]
        pub enum OpClass { #[default] No_OpClass, $($name),* }

        impl OpClass {
            pub const ALL: &'static [OpClass] = &[OpClass::No_OpClass, $(OpClass::$name),*];
            pub const COUNT: usize = Self::ALL.len();
            /// gem5's spelling.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { OpClass::No_OpClass => "No_OpClass", $(OpClass::$name => stringify!($name)),* }
            }
        }
    };
}

#[allow(non_camel_case_types)] // gem5's spelling
#[rustfmt::skip] // a list that is not a column
mod classes {
    op_classes!(
        IntAlu, IntMult, IntDiv, FloatAdd, FloatCmp, FloatCvt, FloatMult, FloatMultAcc, FloatDiv, FloatMisc, FloatSqrt,
        SimdAdd, SimdAddAcc, SimdAlu, SimdCmp, SimdCvt, SimdMisc, SimdMult, SimdMultAcc, SimdMatMultAcc, SimdShift,
        SimdShiftAcc, SimdDiv, SimdSqrt, SimdFloatAdd, SimdFloatAlu, SimdFloatCmp, SimdFloatCvt, SimdFloatDiv,
        SimdFloatMisc, SimdFloatMult, SimdFloatMultAcc, SimdFloatMatMultAcc, SimdFloatSqrt, SimdReduceAdd,
        SimdReduceAlu, SimdReduceCmp, SimdFloatReduceAdd, SimdFloatReduceCmp, SimdAes, SimdAesMix, SimdSha1Hash,
        SimdSha1Hash2, SimdSha256Hash, SimdSha256Hash2, SimdShaSigma2, SimdShaSigma3, SimdPredAlu, Matrix, MatrixMov,
        MatrixOP, MemRead, MemWrite, FloatMemRead, FloatMemWrite, IprAccess, InstPrefetch, SimdUnitStrideLoad,
        SimdUnitStrideStore, SimdUnitStrideMaskLoad, SimdUnitStrideMaskStore, SimdStridedLoad, SimdStridedStore,
        SimdIndexedLoad, SimdIndexedStore, SimdWholeRegisterLoad, SimdWholeRegisterStore,
        SimdUnitStrideFaultOnlyFirstLoad, SimdUnitStrideSegmentedLoad, SimdUnitStrideSegmentedStore, SimdExt,
        SimdFloatExt, SimdConfig,
    );
}
pub use classes::OpClass;
