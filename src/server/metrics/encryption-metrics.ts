import { createHash } from "node:crypto";
import type { Registry } from "prom-client";
import type { Transformation } from "../../storage/encryption/prefix-transformer.ts";
import { BoundCounter, BoundHistogram, CollectedFamily, childrenBy } from "./bound-metric.ts";
import { reloadMetrics } from "./reload-metrics.ts";

/** 5 µs to 84 s, each twice the one before. */
const transformationBuckets = Array.from({ length: 25 }, (_, power) => 5e-6 * 2 ** power);

/** The metrics of encryption at rest under upstream's names. They count before there is a registry to show them. */
export class EncryptionMetrics {
  readonly #durations = new BoundHistogram(
    "apiserver_storage_transformation_duration_seconds",
    "Duration of the encryption or decryption of a value.",
    transformationBuckets,
  );
  readonly #operations = new BoundCounter(
    "apiserver_storage_transformation_operations_total",
    "Encryptions and decryptions of values, by outcome.",
  );
  readonly #durationOf = childrenBy((key: string) => {
    const [direction, prefix] = JSON.parse(key) as [string, string];
    return this.#durations.labels({ transformation_type: direction, transformer_prefix: prefix });
  });
  readonly #operationsOf = childrenBy((key: string) => {
    const [resource, direction, prefix, status] = JSON.parse(key) as [string, string, string, string];
    return this.#operations.labels({
      resource,
      transformation_type: direction,
      transformer_prefix: prefix,
      status,
    });
  });
  #reloaded: ((isUsed: boolean) => void) | undefined;

  /** Counts one transformation. The labels are bounded by the configuration and the resources with objects. */
  readonly transformed = ({ resource, direction, prefix, seconds, error }: Transformation): void => {
    const status = error === undefined ? "OK" : "unknown-non-grpc";
    this.#operationsOf(JSON.stringify([resource, direction, prefix, status])).value++;
    if (error === undefined) this.#durationOf(JSON.stringify([direction, prefix])).observe(seconds);
  };

  /** Counts a change of the configuration file. */
  reloaded(isUsed: boolean): void {
    this.#reloaded?.(isUsed);
  }

  /** @param configHash the hash of the configuration in use, such as `sha256:5f…`; undefined without one */
  register(registry: Registry, serverId: string, configHash: () => string | undefined): void {
    this.#durations.register(registry);
    this.#operations.register(registry);
    this.#reloaded = reloadMetrics(registry, "encryption", serverId);
    const id = `sha256:${createHash("sha256").update(serverId).digest("hex")}`;
    new CollectedFamily(
      "apiserver_encryption_config_controller_last_config_info",
      "Hash of the encryption configuration in use.",
      "gauge",
      () => {
        const hash = configHash();
        return hash === undefined ? [] : [[{ apiserver_id_hash: id, hash }, 1]];
      },
    ).register(registry);
  }
}
