import type { Clock } from "../../process/clock.ts";
import { thrownText } from "../../process/thrown-text.ts";
import { problemsText } from "../problems-text.ts";
import type { ImageStore, StoredImage } from "./runtime.ts";

/** Period of the search, as kubelet's. */
const periodMs = 5 * 60_000;
const mebibyte = 1024 * 1024;
const sizeUnits: readonly (readonly [size: number, name: string])[] = [
  [1024 * 1024 * mebibyte, "TiB"],
  [1024 * mebibyte, "GiB"],
  [mebibyte, "MiB"],
  [1024, "KiB"],
];

export interface ImageLimits {
  /** Share of the disk, in percent, from which images are removed. */
  readonly highPercent: number;
  /** Share of the disk, in percent, to which images are removed. */
  readonly lowPercent: number;
  /** Time for which an image that has appeared is kept. */
  readonly ageMsMin: number;
}

/** kubelet's defaults. */
export const imageLimits: ImageLimits = { highPercent: 85, lowPercent: 80, ageMsMin: 2 * 60_000 };

export interface ImageCollectorParts {
  readonly store: ImageStore;
  readonly limits: ImageLimits;
  readonly clock: Clock;
  /** Tells users about a problem, as an Event of the node. */
  readonly warn: (reason: string, message: string) => void;
}

/** Times by the steady clock. */
interface ImageRecord {
  readonly firstSeenMs: number;
  usedMs: number;
}

/** Removes the images that have not been used for the longest time when their disk is nearly full. */
export class ImageCollector implements Disposable {
  readonly #parts: ImageCollectorParts;
  readonly #timer: Disposable;
  /** By id. Images that are gone are forgotten. */
  readonly #records = new Map<string, ImageRecord>();
  #isCollecting = false;
  #hasFailed = false;

  constructor(parts: ImageCollectorParts) {
    this.#parts = parts;
    this.#timer = parts.clock.every(periodMs, () => void this.#run());
    void this.#run();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  /** Removes all images without a container, because pods would have to go otherwise. */
  async removeUnused(): Promise<void> {
    const steadyMs = this.#parts.clock.steadyMs();
    const candidates = this.#update(await this.#parts.store.list(), steadyMs);
    await this.#free(candidates, Number.POSITIVE_INFINITY, steadyMs, 0);
  }

  async #run(): Promise<void> {
    if (this.#isCollecting) return;
    this.#isCollecting = true;
    try {
      await this.#collect();
      this.#hasFailed = false;
    } catch (error) {
      // The first failure may be a runtime that has not measured its disk yet.
      if (this.#hasFailed) this.#parts.warn("ImageGCFailed", thrownText(error));
      this.#hasFailed = true;
    } finally {
      this.#isCollecting = false;
    }
  }

  async #collect(): Promise<void> {
    const { store, limits, clock, warn } = this.#parts;
    const steadyMs = clock.steadyMs();
    const candidates = this.#update(await store.list(), steadyMs);
    const { capacityBytes, availableBytes } = await store.fileSystem();
    if (capacityBytes === 0) {
      const message = "invalid capacity 0 on image filesystem";
      warn("InvalidDiskCapacity", message);
      throw new Error(message);
    }
    const usedPercent = 100 - Math.floor((Math.min(availableBytes, capacityBytes) * 100) / capacityBytes);
    if (usedPercent < limits.highPercent) return;
    const wantedBytes = Math.floor((capacityBytes * (100 - limits.lowPercent)) / 100) - availableBytes;
    const freedBytes = await this.#free(candidates, wantedBytes, steadyMs);
    if (freedBytes >= wantedBytes) return;
    const message =
      `Insufficient free disk space on the node's image filesystem (${usedPercent}% of ${sizeText(capacityBytes)} used). ` +
      `Failed to free sufficient space by deleting unused images (freed ${freedBytes} bytes). ` +
      "Investigate disk usage, as it could be used by active images, logs, volumes, or other data.";
    warn("FreeDiskSpaceFailed", message);
    throw new Error(message);
  }

  /** Notes which images are used. Returns those that may go, the longest unused first. */
  #update(images: readonly StoredImage[], steadyMs: number): readonly StoredImage[] {
    const present = new Set(images.map(({ id }) => id));
    for (const id of this.#records.keys()) if (!present.has(id)) this.#records.delete(id);
    for (const { id, isUsed } of images) {
      let record = this.#records.get(id);
      if (record === undefined) this.#records.set(id, (record = { firstSeenMs: steadyMs, usedMs: 0 }));
      if (isUsed) record.usedMs = steadyMs;
    }
    const ageOf = ({ id }: StoredImage) => this.#records.get(id) ?? { firstSeenMs: steadyMs, usedMs: steadyMs };
    return images
      .filter(({ isUsed, isPinned }) => !isUsed && !isPinned)
      .sort((a, b) => ageOf(a).usedMs - ageOf(b).usedMs || ageOf(a).firstSeenMs - ageOf(b).firstSeenMs);
  }

  /** Removes images until enough is free. Returns how much it was. */
  async #free(
    candidates: readonly StoredImage[],
    wantedBytes: number,
    steadyMs: number,
    ageMsMin = this.#parts.limits.ageMsMin,
  ): Promise<number> {
    const { store } = this.#parts;
    const failures: string[] = [];
    let freedBytes = 0;
    for (const { id, sizeBytes } of candidates) {
      if (freedBytes >= wantedBytes) break;
      if (steadyMs - (this.#records.get(id)?.firstSeenMs ?? steadyMs) < ageMsMin) continue;
      try {
        await store.remove(id);
        this.#records.delete(id);
        freedBytes += sizeBytes;
      } catch (error) {
        failures.push(thrownText(error));
      }
    }
    if (failures.length === 0) return freedBytes;
    const why = problemsText(failures);
    const freed = `freed ${freedBytes} bytes space`;
    throw new Error(`wanted to free ${wantedBytes} bytes, but ${freed} with errors in image deletion: ${why}`);
  }
}

function sizeText(bytes: number): string {
  const unit = sizeUnits.find(([size]) => bytes >= size);
  return unit === undefined ? `${bytes} B` : `${(bytes / unit[0]).toFixed(1)} ${unit[1]}`;
}
