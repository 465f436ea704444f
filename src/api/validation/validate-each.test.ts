import { expect, test } from "bun:test";
import { fieldError } from "../field-error.ts";
import { fieldErrorsMax } from "./labels.ts";
import { validateEach } from "./validate-each.ts";

test("all mistakes are told while they are few", () => {
  const errors = validateEach(["a", "", "b", ""], (item, at) =>
    item === "" ? [fieldError.required(`list[${at}]`)] : [],
  );
  expect(errors.map(({ field }) => field)).toEqual(["list[1]", "list[3]"]);
});

test("nothing is looked at any more once there are enough of them", () => {
  let looks = 0;
  const errors = validateEach(Array.from({ length: 10_000 }), (_, at) => {
    looks++;
    return [fieldError.required(`list[${at}]`)];
  });
  expect([errors.length, looks]).toEqual([fieldErrorsMax, fieldErrorsMax]);
});
