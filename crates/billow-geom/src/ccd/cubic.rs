//! The documents' continuous test: coplanarity cubic and proximity at its roots ([Bri03] 2.4, [BFA02] 6).
