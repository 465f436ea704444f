import { expect, test } from "bun:test";
import { imageReference } from "./image-reference.ts";

const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["nginx", "nginx:latest"],
  ["nginx:1", "nginx:1"],
  ["registry.example:5000/team/app", "registry.example:5000/team/app:latest"],
  ["registry.example:5000/team/app:2", "registry.example:5000/team/app:2"],
  [`nginx@${digest}`, `nginx@${digest}`],
  [`registry.example:5000/app:1@${digest}`, `registry.example:5000/app:1@${digest}`],
])("%s means %s", (image, expected) => expect(imageReference(image)).toBe(expected));

test.each([
  ["", "invalid reference format"],
  ["a//b", "invalid reference format"],
  ["nginx:", "invalid reference format"],
  [`nginx@sha256:1`, "invalid reference format"],
  ["Nginx", "invalid reference format: repository name (library/Nginx) must be lowercase"],
  ["registry.example/Team/app", "invalid reference format: repository name (Team/app) must be lowercase"],
  ["a".repeat(64), `invalid repository name (${"a".repeat(64)}), cannot specify 64-byte hexadecimal strings`],
])("%j is refused", (image, problem) =>
  expect(() => imageReference(image)).toThrow(
    new Error(`couldn't parse image name ${JSON.stringify(image)}: ${problem}`),
  ),
);
