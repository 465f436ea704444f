import { expect, test } from "bun:test";
import { emptyJsonObject } from "../../../api/json.ts";
import { noteGivenEmpty } from "../../../api/schema/given-empty.ts";
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

test("a list or map that the client gave empty is shown empty", () => {
  const given = emptyJsonObject();
  for (const field of ["enum", "allOf", "properties"]) noteGivenEmpty(given, field);
  const shown = shownSchema(readOpenApiSchema(given));
  expect(shown).toMatchObject({ Enum: [], AllOf: [], Properties: {}, Required: null, Definitions: null });
});
