import { expect, test } from "bun:test";
import type { MediaType } from "../api/codec/representation.ts";
import { negotiateDocument } from "./document-reply.ts";

const served = ["application/json", "application/yaml"] as const;

test.each<[string, MediaType]>([
  ["", "application/json"],
  ["application/yaml", "application/yaml"],
  ["*/*;stream=watch", "application/json"],
  ["application/*;as=Table;g=meta.k8s.io;v=v1,application/yaml", "application/yaml"],
])("a client that accepts %p gets %s", (accept, mediaType) => {
  expect(negotiateDocument(accept, served).mediaType).toBe(mediaType);
});

test.each<string>(["text/html", "application/yaml;stream=watch", "*/*;stream=x", "application/*;as=Table"])(
  "%s is refused",
  (accept) => {
    expect(() => negotiateDocument(accept, served)).toThrow("only the following media types are accepted");
  },
);
