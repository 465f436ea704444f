/** An object inside another document, such as an item of a list: it may leave out what kind it is. */
export type Embedded<T extends { kind: string; apiVersion: string }> = Omit<T, "kind" | "apiVersion"> & {
  kind?: string;
  apiVersion?: string;
};
