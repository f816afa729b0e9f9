import { afterEach, expect, test, vi } from "vitest";
import { newExtra } from "../../shared/http/reply.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const transport = () => newExtra("1").headers["strict-transport-security"];

test("browsers are told to keep to https where that is how one reaches us, and nowhere else", () => {
  vi.stubEnv("PUBLIC_URL", "https://mail.example");
  expect(transport()).toBe("max-age=31536000");
  for (const url of ["http://127.0.0.1:3000", ""]) {
    vi.stubEnv("PUBLIC_URL", url);
    expect(transport()).toBeUndefined();
  }
});
