//! The methods that both eras share, and their parameters.

use super::{optional_string, required_string};
use crate::call::Call;
use crate::jsonrpc::error::{Error, INVALID_PARAMS, METHOD_NOT_FOUND};
use crate::object::{self, Object};

/// The call that a method and its parameters stand for.
pub(super) fn call(method: &str, params: &Object<'_>) -> Result<Call, Error> {
    match method {
        "tools/list" => one_page(params).map(|()| Call::ListTools),
        "tools/call" => call_tool(params),
        "resources/list" => Ok(Call::ListResources { cursor: optional_string(params, "cursor")? }),
        "resources/templates/list" => one_page(params).map(|()| Call::ListResourceTemplates),
        "resources/read" => Ok(Call::ReadResource { uri: required_string(params, "uri")? }),
        "prompts/list" => Ok(Call::ListPrompts { cursor: optional_string(params, "cursor")? }),
        "prompts/get" => get_prompt(params),
        "completion/complete" => complete(params),
        _ => Err(Error::new(METHOD_NOT_FOUND, format!("Method not found: {}", object::shortened(method)))),
    }
}

fn call_tool(params: &Object<'_>) -> Result<Call, Error> {
    let name = required_string(params, "name")?;
    let arguments = match params.get("arguments") {
        Some(raw) if object::is_null(raw) => None,
        Some(raw) if raw.get().starts_with('{') => Some(raw.to_owned()),
        Some(_) => return Err(Error::new(INVALID_PARAMS, "\"arguments\" must be an object.")),
        None => None,
    };
    Ok(Call::CallTool { name, arguments })
}

/// The arguments of a prompt are strings.
fn get_prompt(params: &Object<'_>) -> Result<Call, Error> {
    let name = required_string(params, "name")?;
    let mut arguments = Vec::new();
    for (key, value) in optional_object(params, "arguments")?.unwrap_or_default().members() {
        let value = object::string(value).ok_or_else(|| {
            let key = object::shortened(key);
            Error::new(INVALID_PARAMS, format!("The argument {key:?} must be a string."))
        })?;
        arguments.push((key.to_owned(), value.into_owned()));
    }
    Ok(Call::GetPrompt { name, arguments })
}

/// The values of other variables (`context`) do not affect the completion of a path.
fn complete(params: &Object<'_>) -> Result<Call, Error> {
    let reference = required_object(params, "ref")?;
    let argument = required_object(params, "argument")?;
    if let Some(context) = optional_object(params, "context")? {
        optional_object(&context, "arguments")?;
    }
    let kind = required_string(&reference, "type")?;
    match kind.as_str() {
        "ref/resource" => Ok(Call::Complete {
            template: required_string(&reference, "uri")?,
            argument: required_string(&argument, "name")?,
            value: required_string(&argument, "value")?,
        }),
        "ref/prompt" => Ok(Call::CompletePrompt {
            prompt: required_string(&reference, "name")?,
            argument: required_string(&argument, "name")?,
            value: required_string(&argument, "value")?,
        }),
        _ => Err(Error::new(INVALID_PARAMS, "\"type\" must be \"ref/resource\" or \"ref/prompt\".")),
    }
}

fn required_object<'a>(params: &Object<'a>, key: &str) -> Result<Object<'a>, Error> {
    optional_object(params, key)?
        .ok_or_else(|| Error::new(INVALID_PARAMS, format!("\"{key}\" is missing; it must be an object.")))
}

fn optional_object<'a>(params: &Object<'a>, key: &str) -> Result<Option<Object<'a>>, Error> {
    match params.get(key) {
        Some(raw) if !object::is_null(raw) => match Object::parse(raw) {
            Some(object) => Ok(Some(object)),
            None => Err(Error::new(INVALID_PARAMS, format!("\"{key}\" must be an object."))),
        },
        _ => Ok(None),
    }
}

fn one_page(params: &Object<'_>) -> Result<(), Error> {
    match optional_string(params, "cursor")? {
        None => Ok(()),
        Some(_) => Err(Error::new(INVALID_PARAMS, "This list has one page only; leave \"cursor\" out.")),
    }
}
