/** An object inside another document, such as an item of a list, which may omit its kind and apiVersion. */
export type Embedded<T extends { kind: string; apiVersion: string }> = Omit<T, "kind" | "apiVersion"> & {
  kind?: string;
  apiVersion?: string;
};
