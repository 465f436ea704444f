/** The number of processes of a cluster. */
export interface ClusterSize {
  readonly members: number;
  /** Number of serving processes of each member. */
  readonly servingProcesses: number;
  /** Number of members of the etcd that keeps the objects; 0 for a store of our own. */
  readonly etcdMembers: number;
}
