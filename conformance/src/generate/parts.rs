//! The parts of messages, each with a string of its own.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{HALF, Maker, State, home};

impl Maker<'_> {
    pub(super) fn text(&mut self) -> Value {
        if self.one_in(12) {
            self.reached(State::EmptyBlock);
            let blank = ["", " ", "\n\t"][self.choices.below(3)];
            return json!({ "type": "text", "text": blank });
        }
        let mut text = self.fresh("said");
        if self.one_in(20) {
            self.reached(State::HalfSurrogate);
            text.push(HALF);
        }
        if self.one_in(25) {
            self.reached(State::TextThatLooksLikeACall);
            text = format!("[Tool use: read_file({{\"path\":\"x\"}})] {text}");
        }
        json!({ "type": "text", "text": text })
    }

    pub(super) fn call(&mut self, siblings: &[Value]) -> Value {
        let id = self.call_id(siblings);
        let name = match self.choices.below(20) {
            0 => {
                self.reached(State::OddName);
                ["read file", "", "größe", "a.b"][self.choices.below(4)]
            }
            at => ["read_file", "run", "search-all"][at % 3],
        };
        let argument = self.fresh("argument");
        let arguments = match self.choices.below(16) {
            0 => {
                self.reached(State::BrokenArguments);
                format!("{{\"path\":\"{argument}")
            }
            1 => {
                self.reached(State::ArgumentsNoObject);
                format!("[\"{argument}\"]")
            }
            // Two calls with one id and nothing in them could not be told apart.
            2 if !self.ids.contains(&id) => {
                self.reached(State::NoArguments);
                String::new()
            }
            3 => {
                self.reached(State::HalfSurrogate);
                format!("{{\"path\":\"{argument}\\ud83d\"}}")
            }
            4 => format!("{{\n  \"path\": \"{argument}\", \"n\": 12345678901234567890123\n}}"),
            _ => format!("{{\"path\":\"{argument}\"}}"),
        };
        json!({ "type": "call", "id": id, "name": name, "arguments": arguments })
    }

    pub(super) fn call_id(&mut self, siblings: &[Value]) -> String {
        let number = self.ids.len();
        match self.choices.below(14) {
            0 if !self.ids.is_empty() => {
                self.reached(State::ReusedId);
                let at = self.choices.below(self.ids.len());
                self.ids[at].clone()
            }
            1 => {
                self.reached(State::BlankId);
                String::new()
            }
            2 => {
                let twin = siblings.iter().filter_map(|block| block["id"].as_str()).next_back();
                match twin {
                    Some(id) => {
                        let id = id.to_string();
                        self.reached(State::IdTwiceInRound);
                        id
                    }
                    None => format!("call-{number}"),
                }
            }
            3 => {
                self.reached(State::LongId);
                // Long ids share their beginning, so that a cut one collides.
                format!("{}{number}", "long-".repeat(14))
            }
            4 => {
                self.reached(State::OddId);
                format!("functions.run:{number}")
            }
            5 => format!("call_{number}_0"),
            _ => format!("call-{number}"),
        }
    }

    pub(super) fn result(&mut self, id: &str) -> Value {
        let mut content = Vec::new();
        if self.one_in(12) {
            self.reached(State::EmptyResult);
        } else {
            let output = self.fresh("output");
            content.push(json!({ "type": "text", "text": output }));
        }
        if self.one_in(8) {
            self.reached(State::ImageInResult);
            let image = self.image();
            content.push(image);
        }
        let mut result = json!({ "type": "result", "call": id, "content": content });
        if self.one_in(2) {
            result["name"] = json!("read_file");
        }
        if self.one_in(5) {
            self.reached(State::ErrorResult);
            result["error"] = json!(true);
        }
        result
    }

    pub(super) fn image(&mut self) -> Value {
        let bytes = self.fresh("pixels of image");
        let mut data = STANDARD.encode(bytes);
        if self.one_in(6) {
            self.reached(State::CutImage);
            data.truncate(data.len() - 3);
        }
        json!({ "type": "image", "media_type": "image/png", "data": data })
    }

    pub(super) fn reasoning(&mut self) -> Value {
        let thought = self.fresh("thought");
        let mut block = json!({ "type": "reasoning", "text": thought });
        let kind = self.choices.below(5);
        if kind != 0 {
            let from = home();
            block["from"] = json!({
                "provider": from.provider.to_unicode(),
                "api": from.api.to_unicode(),
                "model": from.model.to_unicode(),
            });
        }
        match kind {
            0 | 1 => self.reached(State::UnsignedReasoning),
            2 => {
                self.reached(State::EncryptedReasoning);
                block["token"] = json!(self.fresh("sealed"));
                block["encrypted"] = json!(true);
                block["text"] = json!("");
            }
            3 => {
                self.reached(State::ForeignReasoning);
                block["token"] = json!(self.fresh("signature"));
                block["from"]["model"] = json!("another-1");
            }
            _ => {
                self.reached(State::SignedReasoning);
                block["token"] = json!(self.fresh("signature"));
            }
        }
        block
    }
}
