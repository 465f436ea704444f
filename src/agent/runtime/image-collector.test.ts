import { beforeEach, expect, test } from "bun:test";
import { systemClock } from "../../process/clock.ts";
import { ImageCollector, imageLimits } from "./image-collector.ts";
import type { ImageStore, StoredImage } from "./runtime.ts";

const minuteMs = 60_000;
let images: StoredImage[];
let warnings: string[];
let usedBytes: number;
let steadyMs: number;
let tick: () => void;
let removeError: Error | undefined;

const clock = {
  ...systemClock,
  steadyMs: () => steadyMs,
  every: (_: number, run: () => void) => {
    tick = run;
    return { [Symbol.dispose]() {} };
  },
};
const store: ImageStore = {
  list: async () => images,
  remove: async (id) => {
    if (removeError !== undefined) throw removeError;
    usedBytes -= images.find((image) => image.id === id)?.sizeBytes ?? 0;
    images = images.filter((image) => image.id !== id);
  },
  fileSystem: async () => ({ capacityBytes: 1_000, availableBytes: 1_000 - usedBytes }),
};

beforeEach(() => {
  images = [];
  warnings = [];
  usedBytes = 0;
  steadyMs = 1_000_000;
  removeError = undefined;
});

function imageOf(id: string, sizeBytes: number, rest: Partial<StoredImage> = {}): StoredImage {
  return { id, names: [id], sizeBytes, isPinned: false, isUsed: false, ...rest };
}

function open(): ImageCollector {
  const warn = (reason: string, message: string) => void warnings.push(`${reason}: ${message}`);
  return new ImageCollector({ store, limits: imageLimits, clock, warn });
}

/** Lets time pass, and a round with it. */
async function pass(minutes: number): Promise<readonly string[]> {
  steadyMs += minutes * minuteMs;
  tick();
  await Bun.sleep(0);
  return images.map(({ id }) => id);
}

test("removes nothing while there is room", async () => {
  images = [imageOf("a", 100)];
  usedBytes = 840;
  using _collector = open();
  expect(await pass(10)).toEqual(["a"]);
});

test("removes the images that were unused for longest, until enough is free", async () => {
  images = [
    imageOf("used-later", 60, { isUsed: true }),
    imageOf("never-used", 30),
    imageOf("used-now", 60, { isUsed: true }),
  ];
  usedBytes = 840;
  using _collector = open();
  await Bun.sleep(0);
  images = images.map((image) => (image.id === "used-later" ? { ...image, isUsed: false } : image));
  usedBytes = 850;
  // The goal is 800 used bytes. The first image frees 30, so the second one goes too.
  expect(await pass(5)).toEqual(["used-now"]);
  expect(warnings).toEqual([]);
});

test("keeps new and pinned images, and says that it could not free enough", async () => {
  images = [imageOf("pinned", 100, { isPinned: true })];
  usedBytes = 900;
  using _collector = open();
  await Bun.sleep(0);
  images = [...images, imageOf("new", 100)];
  expect(await pass(1)).toEqual(["pinned", "new"]);
  const message =
    "Insufficient free disk space on the node's image filesystem (90% of 1000 B used). Failed to free sufficient space " +
    "by deleting unused images (freed 0 bytes). Investigate disk usage, as it could be used by active images, logs, " +
    "volumes, or other data.";
  expect(new Set(warnings)).toEqual(new Set([`FreeDiskSpaceFailed: ${message}`, `ImageGCFailed: ${message}`]));
  expect(await pass(2)).toEqual(["pinned"]);
});

test("tells about removals that fail again", async () => {
  images = [imageOf("a", 100)];
  using _collector = open();
  await Bun.sleep(0);
  usedBytes = 900;
  removeError = new Error("image is busy");
  await pass(5);
  expect(warnings).toEqual([]);
  await pass(5);
  expect(warnings).toEqual([
    "ImageGCFailed: wanted to free 100 bytes, but freed 0 bytes space with errors in image deletion: image is busy",
  ]);
});
