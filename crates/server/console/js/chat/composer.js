// Where a person writes: Enter sends, Shift+Enter breaks the line, Escape stops the answer.

import { h, attr, button, fill, text, uid } from "../ui/dom.js";
import { whenBack } from "../api/reconnect.js";
import { icon } from "../ui/icons.js";
import { modelName } from "../ui/format.js";

/**
 * @param {{send: (body: any, parts: any[]) => Promise<void>, stop: () => Promise<void>}} on
 *   send: the body of the request, and the parts of the message as its `said` events will have them
 */
export function composer(on) {
  const id = uid("write");
  const hint = `${id}-hint`;
  const area = h("textarea", {
    id,
    rows: 1,
    placeholder: "Ask something…",
    "aria-describedby": hint,
    enterkeyhint: "send",
    autocomplete: "off",
  });
  const models = h("select", { class: "models", "aria-label": "Model" });
  const send = button("Send", {
    icon: icon("send"),
    kind: "primary",
    hidden: true,
    type: "submit",
    "aria-disabled": "true",
  });
  const stop = button("Stop", { icon: icon("stop"), hidden: true, kind: "primary" });
  const help = h("p", { class: "hint", id: hint }, "Enter sends, Shift+Enter breaks the line");
  const fault = h("p", { class: "fault", role: "alert" });
  const bar = h("div", { class: "composer-bar" }, models, help, h("span", { class: "spacer" }), stop, send);
  const attached = h("div", { class: "attached" });
  const form = h(
    "form",
    { class: "composer" },
    attached,
    h("label", { for: id, class: "unseen" }, "Message"),
    area,
    bar,
  );
  let busy = false;
  let sending = false;
  /** Whether Enter was pressed while a request was under way. */
  let again = false;
  /** A prompt of the registry that goes along with the text. */
  let prompt = null;

  const attach = (wanted) => {
    prompt = wanted;
    const off = button("Leave this prompt out", { icon: icon("close"), hidden: true, small: true });
    off.addEventListener("click", () => {
      attach(null);
      area.focus();
    });
    const { title, text: words } = wanted ?? {};
    fill(attached, wanted && [h("span", { title: words }, h("strong", {}, title), ` ${words}`), off]);
    fit();
  };

  const isEmpty = () => !area.value.trim() && !prompt;
  const fit = () => {
    // Measured anew each time: a text that gets shorter needs less room.
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, innerHeight * 0.4)}px`;
    attr(send, "aria-disabled", isEmpty() || sending ? "true" : null);
  };
  /** Returns false if the request failed; the error is shown. */
  const deliver = async (body, parts) => {
    if (!models.hidden && models.value) body.model = models.value;
    sending = true;
    fault.textContent = "";
    fit();
    try {
      await on.send(body, parts);
      return true;
    } catch (error) {
      failed(error);
      return false;
    } finally {
      sending = false;
      fit();
    }
  };
  /** Shows an error; one about the connection goes when the server responds again. */
  const failed = (error) => {
    text(fault, error.message);
    const shown = fault.textContent;
    if (error.kind === "offline") whenBack().then(() => fault.textContent === shown && fill(fault));
  };
  const submit = async () => {
    if (sending) return void (again = true);
    again = false;
    if (isEmpty()) return;
    const body = { text: area.value.trim() };
    const parts = body.text ? [part("user", body.text)] : [];
    if (prompt) {
      body.prompt = { name: prompt.name, arguments: prompt.arguments };
      parts.unshift(part(prompt.role, prompt.text));
    }
    // What was written stays in the field if the request fails.
    if (!(await deliver(body, parts))) return;
    if (area.value.trim() === body.text) area.value = "";
    attach(null);
    fit();
    if (again) submit();
  };
  const halt = () => on.stop().catch(failed);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    // An Enter that ends the composition of a character sends nothing.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      halt();
    }
  });
  stop.addEventListener("click", () => {
    area.focus();
    halt();
  });
  stop.hidden = true;

  return {
    node: h("div", { class: "composer-frame" }, fault, form),
    focus: () => area.focus(),
    /** Takes the focus, unless that would open a phone's keyboard over the page. */
    offerFocus: () => matchMedia("(hover: hover)").matches && area.focus(),
    /** Sends a text; the draft in the field stays. */
    async say(words) {
      if (sending) return;
      const isSent = await deliver({ text: words }, [part("user", words)]);
      if (!isSent && !area.value) this.insert(words);
    },
    /** Puts a text in, behind what is there. */
    insert(words) {
      area.value = area.value ? `${area.value}\n${words}` : words;
      fit();
      area.focus();
    },
    /** Sends a prompt along, in the name it is for. */
    attach(wanted) {
      attach(wanted);
      area.focus();
    },
    offer(info) {
      const list = info?.models ?? [];
      models.hidden = list.length < 2;
      fill(
        models,
        list.map((model) => h("option", { value: modelName(model) }, modelName(model))),
      );
      if (!models.hidden) models.value = modelName(info.model);
    },
    state({ running, waiting }) {
      busy = running || waiting;
      stop.hidden = !busy;
      text(
        help,
        waiting
          ? "A call waits for your decision; Escape ends the turn"
          : running
            ? "Escape stops the answer"
            : "Enter sends, Shift+Enter breaks the line",
      );
    },
  };
}

const part = (role, words) => ({ role, content: [{ type: "text", text: words }] });
