import { expect, test } from "bun:test";
import { readOpenApiSchema } from "../../../api/structural/open-api-schema.ts";
import { shownSchema } from "./shown-definition.ts";

test("a schema is shown with all fields of upstream's type", () => {
  const shown = shownSchema(readOpenApiSchema({ type: "object", dependencies: { b: { type: "string" }, a: ["c"] } }));
  expect(shown).toMatchObject({
    Type: "object",
    Enum: null,
    Dependencies: { a: { Schema: null, Property: ["c"] }, b: { Schema: { Type: "string" }, Property: null } },
  });
});
