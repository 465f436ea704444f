import { expect, test } from "bun:test";
import { withType } from "./with-type.ts";

const type = { group: "apps", version: "v1", kind: "Deployment" };

test.each([[{ spec: {} }], [{ apiVersion: "extensions/v1beta1", kind: "Other", spec: {} }]])(
  "the type of %j comes first",
  (document) => {
    expect(JSON.stringify(withType(document, type))).toBe('{"kind":"Deployment","apiVersion":"apps/v1","spec":{}}');
  },
);
