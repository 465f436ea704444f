import type { Registry } from "prom-client";
import { sha256Text } from "../../api/sha256-text.ts";
import { RecentMap } from "../../process/recent-map.ts";
import type { KeyServiceObserver } from "../../storage/encryption/kms/key-service-observer.ts";
import { BoundCounter, BoundHistogram, CollectedFamily } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { Labels } from "./exposition.ts";

/** 100 µs to 52 s, each twice the one before. */
const callBuckets = Array.from({ length: 20 }, (_, power) => 1e-4 * 2 ** power);
/** 5 µs to 41 ms. */
const seedBuckets = Array.from({ length: 14 }, (_, power) => 5e-6 * 2 ** power);
/** Number of key ids with metrics of their own. */
const keyIdsMax = 100;
const msPerSecond = 1_000;
const providerLabel = ["provider_name"];

interface KeyUse {
  readonly labels: Labels;
  count: number;
  lastMs: number;
}

/** The metrics of key services under upstream's names. They count before there is a registry to show them. */
export class KeyServiceMetrics implements KeyServiceObserver {
  readonly #calls = new BoundHistogram(
    "apiserver_envelope_encryption_kms_operations_latency_seconds",
    "Duration of calls to key services, by outcome.",
    callBuckets,
  );
  readonly #wrongKeys = new BoundCounter(
    "apiserver_envelope_encryption_invalid_key_id_from_status_total",
    "Invalid key ids that key services have reported.",
  );
  readonly #seedCounts = new BoundCounter(
    "apiserver_envelope_encryption_dek_source_cache_size",
    "Decrypted seeds in memory.",
    "gauge",
  );
  readonly #misses = new BoundCounter(
    "apiserver_storage_envelope_transformation_cache_misses_total",
    "Seeds that a key service had to decrypt.",
  );
  readonly #made = new BoundHistogram(
    "apiserver_storage_data_key_generation_duration_seconds",
    "Duration of the generation of a seed.",
    seedBuckets,
  );
  readonly #missed = this.#misses.labels({});
  readonly #madeOne = this.#made.labels({});
  readonly #callsOf = boundSeries((labels) => this.#calls.labels(labels), providerLabel);
  readonly #wrongKeysOf = boundSeries((labels) => this.#wrongKeys.labels(labels), providerLabel);
  readonly #seedCountsOf = boundSeries((labels) => this.#seedCounts.labels(labels), providerLabel);
  readonly #used = new RecentMap<string, KeyUse>(keyIdsMax);
  readonly #reported = new RecentMap<string, KeyUse>(keyIdsMax);

  called(provider: string, method: string, seconds: number, code: string): void {
    this.#callsOf({ provider_name: provider, method_name: method, grpc_status_code: code }).observe(seconds);
  }

  keyUsed(direction: "from_storage" | "to_storage", provider: string, keyId: string): void {
    countUse(this.#used, `${direction} ${provider} ${keyId}`, () => ({
      transformation_type: direction,
      provider_name: provider,
      key_id_hash: sha256Text(keyId),
    }));
  }

  keyReported(provider: string, keyId: string): void {
    countUse(this.#reported, `${provider} ${keyId}`, () => ({
      provider_name: provider,
      key_id_hash: sha256Text(keyId),
    }));
  }

  wrongKeyReported(provider: string, problem: "empty" | "too_long"): void {
    this.#wrongKeysOf({ provider_name: provider, error: problem }).value++;
  }

  seedMissed(): void {
    this.#missed.value++;
  }

  seedsKnown(provider: string, count: number): void {
    this.#seedCountsOf({ provider_name: provider }).value = count;
  }

  seedMade(seconds: number): void {
    this.#madeOne.observe(seconds);
  }

  register(registry: Registry, serverId: string): void {
    for (const family of [this.#calls, this.#wrongKeys, this.#seedCounts, this.#misses, this.#made]) {
      family.register(registry);
    }
    const server = { apiserver_id_hash: sha256Text(serverId) };
    const families = [
      ["key_id_hash_total", "Number of uses of a key id.", this.#used, ({ count }: KeyUse) => count],
      ["key_id_hash_last_timestamp_seconds", "Time of the last use of a key id.", this.#used, secondsOf],
      [
        "key_id_hash_status_last_timestamp_seconds",
        "Time of the last report of a key id by its service.",
        this.#reported,
        secondsOf,
      ],
    ] as const;
    for (const [name, help, uses, valueOf] of families) {
      const type = name.endsWith("_total") ? "counter" : "gauge";
      new CollectedFamily(`apiserver_envelope_encryption_${name}`, help, type, () =>
        [...uses.values()].map((use) => [{ ...use.labels, ...server }, valueOf(use)]),
      ).register(registry);
    }
  }
}

function countUse(uses: RecentMap<string, KeyUse>, key: string, labels: () => Labels): void {
  const use = uses.get(key) ?? { labels: labels(), count: 0, lastMs: 0 };
  use.count++;
  use.lastMs = Date.now();
  uses.set(key, use);
}

function secondsOf({ lastMs }: KeyUse): number {
  return lastMs / msPerSecond;
}
