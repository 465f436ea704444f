import { expect, test } from "bun:test";
import { imageTagOf } from "./image-name.ts";

const digest = `sha256:${"a".repeat(64)}`;

test.each([
  ["app", "latest"],
  ["app:latest", "latest"],
  ["app:1", "1"],
  ["registry.example/team/app", "latest"],
  ["registry.example:5000/app", "latest"],
  ["registry.example:5000/app:v1", "v1"],
  ["localhost/app:v1", "v1"],
  ["REGISTRY/app", "latest"],
  ["[fe80::1]:5000/app:x", "x"],
  [`app@${digest}`, ""],
  [`app:1@${digest}`, "1"],
])("imageTagOf(%j) is %j", (image, tag) => {
  expect(imageTagOf(image)).toBe(tag);
});

test.each([
  "",
  "App",
  "*",
  " app",
  "app:",
  "app:-x",
  "app//x",
  "a..b",
  "http://x",
  "10%",
  "app@sha256:short",
  `app@${digest}@${digest}`,
  "a".repeat(64),
  "x".repeat(300),
  "x".repeat(248),
])("imageTagOf(%j) is empty: the name is malformed", (image) => {
  expect(imageTagOf(image)).toBe("");
});
