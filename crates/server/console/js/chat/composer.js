// The message input: Enter sends, Shift+Enter inserts a line break, Escape stops the turn.

import { h, setAttribute, button, setChildren, setText, uid } from "../ui/dom.js";
import { waitForServer } from "../net/reconnect.js";
import { icon } from "../ui/icons.js";
import { modelName } from "../ui/format.js";

/**
 * @param {{send: (body: any, parts: any[]) => Promise<void>, stop: () => Promise<void>}} on
 *   send: gets the body of the request, and the parts of the message as its `said` events will contain them
 */
export function createComposer(on) {
  const id = uid("write");
  const hintId = `${id}-hint`;
  const textarea = h("textarea", {
    id,
    rows: 1,
    placeholder: "Ask something…",
    "aria-describedby": hintId,
    enterkeyhint: "send",
    autocomplete: "off",
  });
  const modelSelect = h("select", { class: "models", "aria-label": "Model" });
  const sendButton = button("Send", {
    icon: icon("send"),
    kind: "primary",
    iconOnly: true,
    type: "submit",
    "aria-disabled": "true",
  });
  const stopButton = button("Stop", { icon: icon("stop"), iconOnly: true, kind: "primary" });
  const hintText = h("p", { class: "hint", id: hintId }, "Enter sends, Shift+Enter breaks the line");
  const errorText = h("p", { class: "error", role: "alert" });
  const toolbar = h(
    "div",
    { class: "composer-bar" },
    modelSelect,
    hintText,
    h("span", { class: "spacer" }),
    stopButton,
    sendButton,
  );
  const promptChip = h("div", { class: "attached-prompt" });
  const editChip = h("div", { class: "attached-prompt" });
  const form = h(
    "form",
    { class: "composer" },
    editChip,
    promptChip,
    h("label", { for: id, class: "visually-hidden" }, "Message"),
    textarea,
    toolbar,
  );
  let busy = false;
  let sending = false;
  /** True if Enter was pressed while a request was in flight. */
  let sendQueued = false;
  /** The rendered prompt that is sent with the text. */
  let prompt = null;
  /** The edit of an earlier message: the id of the entry that it follows, and the draft that was in the field before. */
  let edit = null;

  const attachPrompt = (newPrompt) => {
    prompt = newPrompt;
    const removeButton = button("Leave this prompt out", { icon: icon("close"), iconOnly: true, small: true });
    removeButton.addEventListener("click", () => {
      attachPrompt(null);
      textarea.focus();
    });
    const { title, text } = newPrompt ?? {};
    setChildren(
      promptChip,
      newPrompt && [h("span", { title: text }, h("strong", {}, title), ` ${text}`), removeButton],
    );
    resize();
  };

  const endEdit = () => {
    textarea.value ||= edit.draft;
    edit = null;
    setChildren(editChip);
    resize();
  };
  const cancelEdit = () => {
    if (!edit) return;
    textarea.value = "";
    endEdit();
  };

  const isEmpty = () => !textarea.value.trim() && !prompt;
  const resize = () => {
    // Without a reset, the height would not shrink.
    textarea.style.height = "auto";
    textarea.style.height = `${Math.min(textarea.scrollHeight, innerHeight * 0.4)}px`;
    setAttribute(sendButton, "aria-disabled", isEmpty() || sending ? "true" : null);
  };
  /** Sends a request. Displays an error and returns false if it fails. */
  const deliver = async (body, parts) => {
    if (!modelSelect.hidden && modelSelect.value) body.model = modelSelect.value;
    sending = true;
    errorText.textContent = "";
    resize();
    try {
      await on.send(body, parts);
      return true;
    } catch (error) {
      showError(error);
      return false;
    } finally {
      sending = false;
      resize();
    }
  };
  /** Displays an error; that of a lost connection is removed when the server responds again. */
  const showError = (error) => {
    setText(errorText, error.message);
    const shown = errorText.textContent;
    if (error.kind === "offline") waitForServer().then(() => errorText.textContent === shown && setChildren(errorText));
  };
  const submit = async () => {
    if (sending) return void (sendQueued = true);
    sendQueued = false;
    if (isEmpty()) return;
    const body = { text: textarea.value.trim() };
    const parts = body.text ? [textPart("user", body.text)] : [];
    const sentEdit = edit;
    if (edit) body.after = edit.after;
    if (prompt) {
      body.prompt = { name: prompt.name, arguments: prompt.arguments };
      parts.unshift(textPart(prompt.role, prompt.text));
    }
    // If the request fails, the text stays in the field.
    if (!(await deliver(body, parts))) return;
    if (textarea.value.trim() === body.text) textarea.value = "";
    if (sentEdit && edit === sentEdit) endEdit();
    attachPrompt(null);
    resize();
    if (sendQueued) submit();
  };
  const stopTurn = () => on.stop().catch(showError);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  textarea.addEventListener("input", resize);
  textarea.addEventListener("keydown", (event) => {
    // Enter also ends the composition of a character in an input method.
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      submit();
    } else if (event.key === "Escape" && busy) {
      event.preventDefault();
      stopTurn();
    } else if (event.key === "Escape" && edit) {
      event.preventDefault();
      cancelEdit();
    }
  });
  stopButton.addEventListener("click", () => {
    textarea.focus();
    stopTurn();
  });
  stopButton.hidden = true;

  /** Appends a text to the draft. */
  const insertText = (text) => {
    textarea.value = textarea.value ? `${textarea.value}\n${text}` : text;
    resize();
    textarea.focus();
  };

  /** Inserts a text if there is no draft. */
  const restoreText = (text) => (textarea.value ? textarea.focus() : insertText(text));

  return {
    node: h("div", { class: "composer-frame" }, errorText, form),
    focus: () => textarea.focus(),
    insertText,
    restoreText,
    cancelEdit,
    /** Edits an earlier message: the next one is sent in its place, after the entry of the id `after`. */
    edit(text, after) {
      edit = { after, draft: edit ? edit.draft : textarea.value };
      const click = () => {
        cancelEdit();
        textarea.focus();
      };
      const cancel = button("Do not edit", { icon: icon("close"), iconOnly: true, small: true, on: { click } });
      setChildren(editChip, h("span", {}, "Editing a message. This version is kept."), cancel);
      textarea.value = "";
      insertText(text);
    },
    /** Focuses the input, except on touch devices, where that would open the keyboard. */
    autofocus: () => matchMedia("(hover: hover)").matches && textarea.focus(),
    /** Sends a text, after the entry of the id `after` if it is given, and leaves the draft unchanged. */
    async sendText(text, after) {
      if (sending) return;
      const isSent = await deliver({ text, after }, [textPart("user", text)]);
      if (!isSent) restoreText(text);
    },
    /** Attaches a rendered prompt to the next message; it keeps its role. */
    attachPrompt(newPrompt) {
      attachPrompt(newPrompt);
      textarea.focus();
    },
    /** Fills the list of models from the server's info. */
    setModels(info) {
      const list = info?.models ?? [];
      modelSelect.hidden = list.length < 2;
      setChildren(
        modelSelect,
        list.map((model) => h("option", { value: modelName(model) }, modelName(model))),
      );
      if (!modelSelect.hidden) modelSelect.value = modelName(info.model);
    },
    setState({ running, waiting, isOwnDecision = true }) {
      busy = running || waiting;
      stopButton.hidden = !busy;
      setText(
        hintText,
        waiting
          ? `A call waits for ${isOwnDecision ? "your decision" : "the decision of others"}; Escape ends the turn`
          : running
            ? "Escape stops the answer"
            : "Enter sends, Shift+Enter breaks the line",
      );
    },
  };
}

const textPart = (role, text) => ({ role, content: [{ type: "text", text }] });
