import { ActionIcon, Popover } from "@mantine/core";
import { IconMoodSmile } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../language/translate.ts";

/** Those that emails use most. All others come from the keyboard of the computer or phone. */
const groups: Record<string, string> = {
  [t("Often used")]: "🎉 🎁 ✨ ⭐ 🔥 ❤️ 👋 👍 🙏 🚀 💡 ✅ ⏰ 📣 🛍️ 💌",
  [t("Faces")]: "😀 😊 😍 🥳 😎 🤩 😉 🤔 😅 😂 😢 😮 🤗 😴 🙌 👏",
  [t("Offers")]: "💸 💰 💳 🏷️ 🛒 📦 🚚 💎 🆕 🔔 ⌛ 📅 📌 📝 📈 🏆",
  [t("Seasons")]: "🌷 🐣 🌞 🏖️ 🍂 🎃 🍁 🎄 🎅 ❄️ ☃️ 🎆 🥂 💘 🌈 🌍",
  [t("Food")]: "☕ 🍰 🥐 🍞 🍕 🍔 🥗 🍎 🍓 🍦 🍷 🍺 🍽️ 🧁 🍫 🍪",
  [t("Signs")]: "➡️ ⬇️ ✔️ ❗ ❓ ⚡ 🔒 🔗 📍 📞 ✉️ 💬 🎧 🎬 📚 🎓",
};

interface EmojiMenuProps {
  /** What the button is for, if several stand on a screen. */
  label?: string;
  onInsert(emoji: string): void;
}

/** Puts an emoji into a text. */
export function EmojiMenu(props: EmojiMenuProps) {
  const { label = t("Insert an emoji"), onInsert } = props;
  const [isOpen, setOpen] = useState(false);
  const pick = (emoji: string) => {
    setOpen(false);
    onInsert(emoji);
  };
  return (
    <Popover opened={isOpen} onChange={setOpen} position="bottom-end" trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={label}
          title={t("Insert an emoji")}
          onClick={() => setOpen(!isOpen)}
        >
          <IconMoodSmile size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown className="emoji-menu" aria-label={t("Emoji")}>
        {Object.entries(groups).map(([group, emojis]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            <div>
              {emojis.split(" ").map((emoji) => (
                <button key={emoji} type="button" onClick={() => pick(emoji)}>
                  {emoji}
                </button>
              ))}
            </div>
          </section>
        ))}
      </Popover.Dropdown>
    </Popover>
  );
}
