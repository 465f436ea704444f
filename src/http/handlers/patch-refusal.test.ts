import { expect, test } from "bun:test";
import { fieldError } from "../../api/field-error.ts";
import { status } from "../../api/status.ts";

test("a patch that does not fit its type is a bad request with upstream's text and cause", () => {
  const error = status.unfitPatch([fieldError.invalid("patch", "map[a:1]", "cannot restore struct from: int64")]);
  expect(error.status).toMatchObject({
    code: 400,
    reason: "BadRequest",
    message: ' "" is invalid: patch: Invalid value: "map[a:1]": cannot restore struct from: int64',
    details: { causes: [{ field: "patch", reason: "FieldValueInvalid" }] },
  });
});
