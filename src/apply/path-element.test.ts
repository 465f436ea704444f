import { describe, expect, test } from "bun:test";
import {
  comparePathElements,
  keyElement,
  orderOfElements,
  parsePathElement,
  pathText,
  valueElement,
} from "./path-element.ts";

test("a value is written as upstream writes it, with some characters escaped once more", () => {
  expect(valueElement("a<b\\b\b&")).toBe('v:"a\\u003cb\\\\b\\u0008\\u0026"');
  expect(valueElement(1)).toBe("v:1");
  expect(valueElement(9007199254740993n)).toBe("v:9007199254740993");
  expect(valueElement(null)).toBe("v:null");
});

test("keys go in the order of their names", () => {
  expect(keyElement(["port", "protocol"], [80, "TCP"])).toBe('k:{"port":80,"protocol":"TCP"}');
  expect(parsePathElement('k:{"protocol":"TCP", "port":80.0}')).toBe('k:{"port":80,"protocol":"TCP"}');
});

describe("elements that clients send", () => {
  test("an unknown kind is none", () => expect(parsePathElement("x:1")).toBeUndefined());
  const refused = [
    ["a", "key must be 2 characters long:"],
    ["abc", "missing colon: abc"],
    ["i:x", 'strconv.Atoi: parsing "x": invalid syntax'],
  ] as const;
  for (const [text, message] of refused) {
    test(`${text} is refused`, () => expect(() => parsePathElement(text)).toThrow(message));
  }
  for (const text of ["v:{", "k:1", "k:", "v:"]) {
    test(`${text} is refused too`, () => expect(() => parsePathElement(text)).toThrow());
  }
});

test("the order on the wire is fields, keys, values, indexes, and numbers by value", () => {
  const inOrder = [
    "f:a",
    "f:\uffff",
    "f:\u{1f600}",
    'k:{"port":80}',
    'k:{"port":80,"protocol":"TCP"}',
    'k:{"port":443}',
    'k:{"qort":1}',
    "v:2",
    "v:10",
    'v:"a"',
    "v:false",
    "v:true",
    "v:[1]",
    "v:[1,2]",
    'v:{"a":1}',
    "v:null",
    "i:2",
    "i:10",
  ];
  expect(inOrder.toReversed().sort(comparePathElements)).toEqual(inOrder);
});

test("a path is printed as in messages", () => {
  const path = ["f:spec", "f:ports", 'k:{"port":80,"protocol":"T\\"CP"}', "f:a.b", 'v:"x"', "i:3"];
  expect(pathText(path)).toBe('.spec.ports[port=80,protocol="T\\"CP"].a.b[="x"][3]');
});

test("many elements are sorted as each two of them are", () => {
  const elements = ["i:3", 'v:"b"', "f:b", 'k:{"a":2}', "v:10", "v:9", 'k:{"a":10}', "f:a", 'v:"a"', "i:20", 'v:"a!"'];
  const sorted = orderOfElements(elements).map((at) => elements[at] as string);
  expect(sorted).toEqual(elements.toSorted(comparePathElements));
});
