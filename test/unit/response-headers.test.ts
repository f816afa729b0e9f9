import { afterEach, expect, test, vi } from "vitest";
import { createReply } from "../../shared/http/responses.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const transport = () => createReply("1").headers["strict-transport-security"];

test("sends Strict-Transport-Security only if the public URL uses https", () => {
  vi.stubEnv("PUBLIC_URL", "https://mail.example");
  expect(transport()).toBe("max-age=31536000");
  for (const url of ["http://127.0.0.1:3000", ""]) {
    vi.stubEnv("PUBLIC_URL", url);
    expect(transport()).toBeUndefined();
  }
});
