// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// States in an enumeration; a base contract has the modifiers, another one the steps.
abstract contract Steps {
    enum State { Open, Paid, Sent, Done }

    State internal state;

    modifier only(State wanted) {
        require(state == wanted);
        _;
    }

    modifier advances() {
        State before = state;
        _;
        assert(state > before); // expect: safe
    }
}

contract Escrow is Steps {
    uint amount;
    address immutable buyer = msg.sender;

    function pay(uint value) public only(State.Open) advances {
        require(msg.sender == buyer && value > 0);
        amount = value;
        state = State.Paid;
    }

    function send() public only(State.Paid) advances {
        state = State.Sent;
    }

    function confirm() public only(State.Sent) advances {
        require(msg.sender == buyer);
        state = State.Done;
        amount = 0;
    }

    function check() public view {
        assert(state != State.Open || amount == 0); // expect: safe
        assert(state != State.Sent || amount > 0); // expect: safe
        assert(state != State.Done); // expect: unsafe
    }
}
