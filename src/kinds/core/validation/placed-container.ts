import type { Container, EphemeralContainer } from "../../../api/types/core-v1.ts";

/** A container of any sort. */
export type AnyContainer = Container | EphemeralContainer;

/** A container with the path to it. */
export interface PlacedContainer {
  readonly container: AnyContainer;
  readonly field: string;
}
