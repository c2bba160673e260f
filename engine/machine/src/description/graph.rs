//! The description as a graph of objects: JSON in, objects by path out. Knows the format, no class.

use std::collections::BTreeMap;

use breakeven_base::ConfigError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The format that this engine reads.
const FORMAT: u64 = 1;

/// One SimObject as the configuration language resolved it.
#[derive(Debug, Deserialize)]
pub(super) struct Object {
    pub path: String,
    #[serde(rename = "type")]
    pub class: String,
    #[serde(default)]
    pub bases: Vec<String>,
    #[serde(default)]
    pub params: Map<String, Value>,
    #[serde(default)]
    pub ports: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Document {
    format: u64,
    objects: Vec<Object>,
}

/// All objects of a description.
#[derive(Debug)]
pub(super) struct Graph {
    pub objects: Vec<Object>,
    by_path: BTreeMap<String, usize>,
}

impl Graph {
    /// Parses the JSON text.
    ///
    /// # Errors
    /// Text that is not the format, and paths given twice.
    pub fn parse(text: &str) -> Result<Graph, Vec<ConfigError>> {
        let bad = |what: String| vec![ConfigError::new("description", what)];
        let doc: Document =
            serde_json::from_str(text).map_err(|e| bad(format!("is not a machine description: {e}")))?;
        if doc.format != FORMAT {
            return Err(bad(format!("has format {}; this engine reads format {FORMAT}", doc.format)));
        }
        let mut by_path = BTreeMap::new();
        let mut errors = Vec::new();
        for (i, o) in doc.objects.iter().enumerate() {
            if by_path.insert(o.path.clone(), i).is_some() {
                errors.push(ConfigError::new(&o.path, "is described twice; every object has a path of its own"));
            }
        }
        if errors.is_empty() {
            Ok(Graph { objects: doc.objects, by_path })
        } else {
            Err(errors)
        }
    }

    pub fn get(&self, path: &str) -> Option<&Object> {
        self.by_path.get(path).map(|&i| &self.objects[i])
    }
}

impl Object {
    /// Whether the object is a `class` or derives from it.
    pub fn is_a(&self, class: &str) -> bool {
        self.class == class || self.bases.iter().any(|b| b == class)
    }
}
