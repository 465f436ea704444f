import type { Registry } from "prom-client";
import { sha256Text } from "../../api/sha256-text.ts";
import { KeyServiceError } from "../../storage/encryption/kms/key-service.ts";
import type { Transformation } from "../../storage/encryption/prefix-transformer.ts";
import { BoundCounter, BoundHistogram, CollectedFamily } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import { KeyServiceMetrics } from "./key-service-metrics.ts";
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
  readonly #durationOf = boundSeries((labels) => this.#durations.labels(labels), ["transformer_prefix"]);
  readonly #operationsOf = boundSeries((labels) => this.#operations.labels(labels), ["resource"]);
  readonly keyServices = new KeyServiceMetrics();
  #reloaded: ((isUsed: boolean) => void) | undefined;

  /** Counts one transformation. */
  readonly transformed = ({ resource, direction, prefix, seconds, error }: Transformation): void => {
    const status = error === undefined ? "OK" : error instanceof KeyServiceError ? error.code : "unknown-non-grpc";
    const labels = { transformation_type: direction, transformer_prefix: prefix };
    this.#operationsOf({ resource, ...labels, status }).value++;
    if (error === undefined) this.#durationOf(labels).observe(seconds);
  };

  /** Counts a change of the configuration file. */
  reloaded(isUsed: boolean): void {
    this.#reloaded?.(isUsed);
  }

  /** @param configHash the hash of the configuration in use, such as `sha256:5f…`; undefined without one */
  register(registry: Registry, serverId: string, configHash: () => string | undefined): void {
    this.#durations.register(registry);
    this.#operations.register(registry);
    this.keyServices.register(registry, serverId);
    this.#reloaded = reloadMetrics(registry, "encryption", serverId);
    new CollectedFamily(
      "apiserver_encryption_config_controller_last_config_info",
      "Hash of the encryption configuration in use.",
      "gauge",
      () => {
        const hash = configHash();
        return hash === undefined ? [] : [[{ apiserver_id_hash: sha256Text(serverId), hash }, 1]];
      },
    ).register(registry);
  }
}
