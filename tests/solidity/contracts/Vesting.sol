// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.20;

// A library, and structs inside structs.
library Shares {
    struct Share {
        uint granted;
        uint paid;
    }

    function open(uint granted, uint paid) internal pure returns (uint) {
        return granted > paid ? granted - paid : 0;
    }
}

contract Vesting {
    struct Holder {
        Shares.Share share;
        bool known;
    }

    mapping(address => Holder) holders;
    address immutable owner = msg.sender;

    function grant(address to, uint amount) public {
        require(msg.sender == owner);
        require(!holders[to].known);
        holders[to] = Holder(Shares.Share(amount, 0), true);
    }

    function pay(uint amount) public {
        uint granted = holders[msg.sender].share.granted;
        uint paid = holders[msg.sender].share.paid;
        uint left = Shares.open(granted, paid);
        require(holders[msg.sender].known && amount > 0 && amount <= left);
        holders[msg.sender].share.paid = paid + amount;
        assert(holders[msg.sender].share.paid <= granted); // expect: safe
        assert(Shares.open(granted, paid + amount) < left); // expect: safe
        assert(amount < left); // expect: unsafe
    }

    function everyone(address who) public view {
        assert(holders[who].share.paid <= holders[who].share.granted); // expect: safe
        assert(holders[who].known || holders[who].share.granted == 0); // expect: safe
    }
}
