import type { Range } from "./range.ts";

/** Returns the size that values at a path may have; undefined where nothing is known. */
export type SizeLookup = (path: readonly string[]) => Range | undefined;
