//! Normalises `properties` and `required`.

pub(crate) mod bare_properties;
pub(crate) mod property_map;
pub(crate) mod required_flag;
pub(crate) mod required_list;
