import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A metric family of kube-apiserver. */
export interface KnownFamily {
  readonly stability: string;
  readonly type: string;
  readonly labels: readonly string[];
  /** Empty for the default buckets, and for families without buckets. */
  readonly bounds: readonly number[];
}

const file = join(import.meta.dir, "../fixtures/metrics/families.txt");

/** Reads the families of kube-apiserver: stability, type, name, labels or `-`, and the bounds of buckets. */
export function knownFamilies(): Map<string, KnownFamily> {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return new Map(
    lines.map((line) => {
      const [stability = "", type = "", name = "", labels = "-", bounds = ""] = line.split(" ");
      return [
        name,
        {
          stability,
          type,
          labels: labels === "-" ? [] : labels.split(","),
          bounds: bounds === "" ? [] : bounds.split(",").map(Number),
        },
      ];
    }),
  );
}

/** The reasons why stable families of upstream are not served. */
export const unservedFamilies: ReadonlyMap<string, string> = new Map<string, string>([]);

/** Families that kube-apiserver lacks: our own, those of any process, and kube-controller-manager's. */
export const ownFamilies =
  /^(quorate_|process_|(garbagecollector_controller|ephemeral_volume_controller|endpoint_slice|node_collector|node_ipam_controller|pod_gc_collector|resourceclaim_controller|root_ca_cert_publisher|taint_eviction_controller|ttl_after_finished_controller)_)/;
