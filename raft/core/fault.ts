/** Rules that a test can switch off, each to be missed by some test: see `raft/testing/mutants.ts`. */
export type Fault = "voteNotPersisted";
