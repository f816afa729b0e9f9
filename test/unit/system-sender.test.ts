// What `npm start` accepts as SYSTEM_SENDER; deploy-settings.test.ts has the deployment.
import { expect, test } from "vitest";
import { checkSettings } from "../../infra/local/production.ts";

const production = { SANDBOX: "off", PUBLIC_URL: "https://mail.shop.example" };
const SYSTEM_SENDER = "postmark:us@shop.example";
const SYSTEM_SENDER_CREDENTIALS = '{"apiKey":"token"}';

test.each(["1", "1004", "postmark", "postmark:", "postmark:us", "pigeon:us@shop.example", ":"])(
  "SYSTEM_SENDER=%s is refused in one line that says what is accepted",
  (wrong) => {
    const settings = { ...production, SYSTEM_SENDER: wrong, SYSTEM_SENDER_CREDENTIALS };
    expect(() => checkSettings(settings)).toThrow(
      /^SYSTEM_SENDER must be <provider>:<from address>, such as .* config is not accepted.*$/,
    );
    expect(() => checkSettings({ SYSTEM_SENDER: wrong })).toThrow("SYSTEM_SENDER must be");
  },
);

test("SYSTEM_SENDER needs credentials in production; the sandbox has its own", () => {
  expect(() => checkSettings({ ...production, SYSTEM_SENDER })).toThrow(
    "SYSTEM_SENDER_CREDENTIALS is missing",
  );
  checkSettings({ ...production, SYSTEM_SENDER, SYSTEM_SENDER_CREDENTIALS });
  checkSettings({ SYSTEM_SENDER });
  checkSettings(production);
});
