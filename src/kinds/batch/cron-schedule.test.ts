import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { CronScheduleError, isTimeZone, parseCronSchedule } from "./cron-schedule.ts";

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at);

describe("a schedule", () => {
  test.each<[text: string, minutes: number[], hours: number[], daysOfWeek: number[]]>([
    ["0 0 * * *", [0], [0], range(0, 6)],
    ["*/15 9-17 * * mon-FRI", [0, 15, 30, 45], range(9, 17), range(1, 5)],
    ["5,10-12,59 */6 ? * 0", [5, 10, 11, 12, 59], [0, 6, 12, 18], [0]],
    ["50/5 1 * * 6", [50, 55], [1], [6]],
    ["  1  2\t3 4 5 ", [1], [2], [5]],
    ["TZ=Europe/Berlin 1 2 * * 3", [1], [2], [3]],
    ["CRON_TZ=UTC @daily", [0], [0], range(0, 6)],
    ["@weekly", [0], [0], [0]],
    ["@hourly", [0], range(0, 23), range(0, 6)],
  ])("%p is understood", (text, minutes, hours, daysOfWeek) => {
    expect(parseCronSchedule(text)).toMatchObject({
      kind: "calendar",
      minutes: { values: minutes },
      hours: { values: hours },
      daysOfWeek: { values: daysOfWeek },
    });
  });

  test.each([
    ["@every 1h30m", 5_400_000],
    ["@every 1ms", 1000],
    ["@every 2500ms", 2000],
  ])("%p is an interval", (text, intervalMs) => {
    expect(parseCronSchedule(text)).toEqual({ kind: "every", intervalMs });
  });

  test("tells any day from all days, since of two kinds of days only the named one counts", () => {
    const daysOf = (text: string) => {
      const schedule = parseCronSchedule(text);
      return schedule.kind === "calendar" ? [schedule.daysOfMonth.any, schedule.daysOfWeek.any] : [];
    };
    expect(daysOf("0 0 * * 1")).toEqual([true, false]);
    expect(daysOf("0 0 1-31 * ?")).toEqual([false, true]);
    expect(daysOf("0 0 */2 * *")).toEqual([false, true]);
  });

  test.each([
    ["", "empty spec string"],
    ["* * * *", "expected exactly 5 fields, found 4: [* * * *]"],
    ["* * * * * *", "expected exactly 5 fields, found 6: [* * * * * *]"],
    ["60 * * * *", "end of range (60) above maximum (59): 60"],
    ["* 24 * * *", "end of range (24) above maximum (23): 24"],
    ["* * 0 * *", "beginning of range (0) below minimum (1): 0"],
    ["* * * 13 *", "end of range (13) above maximum (12): 13"],
    ["* * * * 7", "end of range (7) above maximum (6): 7"],
    ["5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"],
    ["1-2-3 * * * *", "too many hyphens: 1-2-3"],
    ["*/2/3 * * * *", "too many slashes: */2/3"],
    ["*/0 * * * *", "step of range should be a positive number: */0"],
    ["a * * * *", 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ["@often", "unrecognized descriptor: @often"],
    ["@every day", 'failed to parse duration @every day: time: invalid duration "day"'],
    ["TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"],
  ])("%p is refused with %p", (text, message) => {
    expect(() => parseCronSchedule(text)).toThrow(new CronScheduleError(message));
  });

  test("is read or refused, whatever it contains", () => {
    const part = fc.constantFrom("*", "?", "/", "-", ",", " ", "0", "7", "59", "mon", "TZ=", "@every ", "1h", "é");
    const text = fc.oneof(
      fc.string(),
      fc.array(part).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (schedule) => {
        try {
          parseCronSchedule(schedule);
        } catch (error) {
          expect(error).toBeInstanceOf(CronScheduleError);
        }
      }),
      { verbose: true },
    );
  });
});

test.each([
  ["Europe/Berlin", true],
  ["UTC", true],
  ["Etc/UTC", true],
  ["America/Argentina/Buenos_Aires", true],
  ["Mars/Olympus", false],
  ["+01:00", false],
  ["", false],
])("whether %p is a time zone: %p", (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
